// The list of lessons: light or dark.

import './theme.js';
