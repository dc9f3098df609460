// tippe collide: frictional impacts from a table, one per row.
//
// Columns are found by their names in the header, in any order, and others are left alone, so that
// a table may carry what it likes besides. All vectors of a row are in its own collision frame.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arguments.h"
#include "base/input_file.h"
#include "command.h"
#include "command_files.h"
#include "dynamics/impact_columns.h"
#include "output_file.h"
#include "problems/scanner.h"
#include "recording/number.h"

static const char notes[] =
    "IMPACTS.csv starts with a header. Columns, in any order; others are ignored:\n"
    "  id                          carried over to the output\n"
    "  m1                          mass, or inf for a body that cannot be moved\n"
    "  J1xx J1yy J1zz J1xy J1xz J1yz  inertia about the centre of mass; all 0: cannot be turned,\n"
    "                              with m1 = inf only\n"
    "  r1x r1y r1z                 contact less centre of mass\n"
    "  v1x v1y v1z w1x w1y w1z     velocity and angular velocity before\n"
    "  m2 .. w2z                   the same of the second body\n"
    "  mu e                        friction and restitution\n"
    "SI units; every row in axes of its own with z the normal, from body 2 to body 1.\n"
    "\n"
    "Output columns: id px py pz (impulse on body 1) pz_mc (normal impulse at maximum "
    "compression).\n"
    "Bodies that do not approach get zeros.\n"
    "\n"
    "Exit status: 0 done; 2 bad file or usage; 3 an impact could not be resolved. Nothing is\n"
    "written unless all is.\n";

typedef struct CollideOptions {
    const char* file;
    const char* out;
    const char* law;
} CollideOptions;

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         CollideOptions* options) {
    static const char* const laws[] = { "poisson", "stronge", NULL };
    const tpArgument table[] = {
        { "out", optionText, &options->out, "FILE.csv", "write here; else to standard output",
          NULL },
        { "restitution", optionChoice, &options->law, NULL,
          "what e is: the ratio of impulses (Poisson, the default) or the root of that of works "
          "(Stronge)",
          laws },
    };
    const tpOperand operands[] = { { "IMPACTS.csv", &options->file, true, "the impacts", NULL } };
    const tpArgumentTable line = {
        .command = "collide",
        .summary = "Resolves impacts with friction, one per row of a table",
        TP_OPERANDS(operands),
        TP_OPTIONS(table),
        .notes = notes,
    };
    return parseArguments(&line, argumentCount, arguments);
}

// The columns that are read, in the order in which a row keeps their values.
static const char* const columnNames[] = {
    "id",  "m1",  "J1xx", "J1yy", "J1zz", "J1xy", "J1xz", "J1yz", "r1x",  "r1y",  "r1z",  "v1x",
    "v1y", "v1z", "w1x",  "w1y",  "w1z",  "m2",   "J2xx", "J2yy", "J2zz", "J2xy", "J2xz", "J2yz",
    "r2x", "r2y", "r2z",  "v2x",  "v2y",  "v2z",  "w2x",  "w2y",  "w2z",  "mu",   "e",
};

enum {
    columnCount = sizeof(columnNames) / sizeof(columnNames[0]),
    columnId = 0,
    columnFirst = 1, // those of the bodies are dynamics/impact_columns.h
    columnSecond = columnFirst + tp_impactBodyColumns,
    columnFriction = columnSecond + tp_impactBodyColumns,
    columnRestitution,
    mostCells = 1024,
    longestLine = 1 << 20 // bytes
};

// A row of the file, cut at its commas.
typedef struct Line {
    char* text; // room for the longest, with its closing zero
    tpWord cells[mostCells];
    int cellCount;
} Line;

// The table while it is read.
typedef struct Table {
    const char* name;
    FILE* stream;
    long lineNumber;
    Line line;
    int places[columnCount]; // the cell of each column
    int cellCount;           // of the header
} Table;

// Says what is wrong at a cell of the line; always false.
static bool complain(const Table* table, const char* at, const char* message) {
    long column = at != NULL ? (long)(at - table->line.text) + 1 : 1;
    fprintf(stderr, "%s:%ld:%ld: %s\n", table->name, table->lineNumber, column, message);
    return false;
}

static bool complainOfCell(const Table* table, tpWord cell, const char* column,
                           const char* expected) {
    char message[400];
    snprintf(message, sizeof(message), "%s: expected %s, found '%.*s'", column, expected,
             cell.length < 60 ? cell.length : 60, cell.start);
    return complain(table, cell.start, message);
}

static tpWord trimmed(const char* start, const char* end) {
    while (start < end && (*start == ' ' || *start == '\t')) {
        ++start;
    }
    while (end > start && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) {
        --end;
    }
    return (tpWord){ start, (int)(end - start) };
}

typedef enum LineResult { lineRead, lineEnd, lineWrong } LineResult;

// The text of the next line, to the end of it.
static LineResult readText(Table* table, char** end) {
    char* text = table->line.text;
    int length = 0, c;
    table->lineNumber += 1;
    errno = 0;
    while ((c = getc(table->stream)) != EOF && c != '\n') {
        if (c == '\0' || length == longestLine) {
            complain(table, text + length,
                     c == '\0' ? "a zero byte is no text" : "a line of more than 1048576 bytes");
            return lineWrong;
        }
        text[length++] = (char)c;
    }
    text[length] = '\0';
    *end = text + length;
    if (c == EOF && ferror(table->stream)) {
        complain(table, NULL, strerror(errno));
        return lineWrong;
    }
    return c == EOF && length == 0 ? lineEnd : lineRead;
}

// The next line that is not empty, cut into cells.
static LineResult readLine(Table* table) {
    Line* line = &table->line;
    char* end;
    for (;;) {
        LineResult result = readText(table, &end);
        if (result != lineRead) {
            return result;
        }
        if (trimmed(line->text, end).length == 0) {
            continue;
        }
        line->cellCount = 0;
        for (char* start = line->text;;) {
            char* comma = memchr(start, ',', (size_t)(end - start));
            if (line->cellCount == mostCells) {
                complain(table, start, "more than 1024 columns");
                return lineWrong;
            }
            line->cells[line->cellCount++] = trimmed(start, comma != NULL ? comma : end);
            if (comma == NULL) {
                return lineRead;
            }
            start = comma + 1;
        }
    }
}

static bool readHeader(Table* table) {
    LineResult result = readLine(table);
    if (result == lineEnd) {
        table->lineNumber = 1;
        return complain(table, NULL, "expected a header with the names of the columns");
    }
    if (result == lineWrong) {
        return false;
    }
    table->cellCount = table->line.cellCount;
    for (int i = 0; i < columnCount; ++i) {
        char message[100];
        table->places[i] = -1;
        for (int j = 0; j < table->cellCount; ++j) {
            if (!tpWord_Is(table->line.cells[j], columnNames[i])) {
                continue;
            }
            if (table->places[i] >= 0) {
                snprintf(message, sizeof(message), "column %s appears twice", columnNames[i]);
                return complain(table, table->line.cells[j].start, message);
            }
            table->places[i] = j;
        }
        if (table->places[i] < 0) {
            snprintf(message, sizeof(message), "column %s is missing", columnNames[i]);
            return complain(table, NULL, message);
        }
    }
    return true;
}

static bool isInfinite(tpWord cell) {
    int sign = cell.length > 0 && cell.start[0] == '+' ? 1 : 0;
    const char* start = cell.start + sign;
    int length = cell.length - sign;
    return (length == 3 && strncasecmp(start, "inf", 3) == 0) ||
           (length == 8 && strncasecmp(start, "infinity", 8) == 0);
}

// The numbers of a row; those of text columns stay as they are.
static bool readNumbers(const Table* table, double* values) {
    if (table->line.cellCount != table->cellCount) {
        char message[100];
        snprintf(message, sizeof(message), "expected %d cells as in the header, found %d",
                 table->cellCount, table->line.cellCount);
        return complain(table, NULL, message);
    }
    for (int i = 0; i < columnCount; ++i) {
        tpWord cell = table->line.cells[table->places[i]];
        bool isMass = i == columnFirst || i == columnSecond;
        if (i == columnId) {
            continue;
        }
        if (isMass && isInfinite(cell)) {
            values[i] = INFINITY;
        } else if (!tpWord_ToReal(cell, &values[i])) {
            return complainOfCell(table, cell, columnNames[i],
                                  isMass ? "a number or inf" : "a number");
        }
        if (isMass && !(values[i] > 0.0)) {
            return complainOfCell(table, cell, columnNames[i], "a mass above 0");
        }
        if ((i == columnFriction || i == columnRestitution) && values[i] < 0.0) {
            return complainOfCell(table, cell, columnNames[i], "a number that is not negative");
        }
    }
    return true;
}

static bool readBody(const Table* table, const double* values, int first, tpImpactBody* body) {
    const double* columns = values + first;
    tpVec3 moments;
    tpMat33 axes;
    tpEigenSymmetric(tpInertiaOfColumns(columns), &moments, &axes);
    if (!tpColumnsCannotTurn(columns) && !(moments.x > 0.0)) {
        int inertia = first + tp_impactInertia;
        return complainOfCell(table, table->line.cells[table->places[inertia]],
                              columnNames[inertia], "the first of a positive definite inertia");
    }
    *body = tpImpactBodyOfColumns(columns);
    return true;
}

static void writeRow(FILE* stream, tpWord id, const tpImpactResult* result) {
    const double numbers[] = { result->impulse.x, result->impulse.y, result->impulse.z,
                               result->compressionImpulse };
    fprintf(stream, "%.*s", id.length, id.start);
    for (int i = 0; i < 4; ++i) {
        char text[tp_numberCapacity];
        fprintf(stream, ",%.*s", tpFormatNumber(text, numbers[i]), text);
    }
    fputc('\n', stream);
}

// One row; the exit status.
static int resolveRow(const Table* table, tpRestitution law, FILE* stream) {
    double values[columnCount] = { 0.0 };
    tpImpactBody first, second;
    if (!readNumbers(table, values) || !readBody(table, values, columnFirst, &first) ||
        !readBody(table, values, columnSecond, &second)) {
        return exitBadInput;
    }
    tpImpact impact = tpMakeImpact(&first, &second, tpMakeVec3(0.0, 0.0, 1.0));
    impact.friction = values[columnFriction];
    impact.restitution = values[columnRestitution];
    impact.law = law;
    tpImpactResult result;
    tpResult end = tpImpact_Resolve(&impact, &result);
    if (end == tp_badInput) {
        tpWord cell = table->line.cells[table->places[columnFirst]];
        complain(table, cell.start,
                 "the two bodies have no collision matrix that is positive "
                 "definite: both fixed, or numbers too far apart");
        return exitBadInput;
    }
    if (end != tp_success) {
        complain(table, NULL, "the impact leaves the range of numbers");
        return exitCouldNotGoOn;
    }
    writeRow(stream, table->line.cells[table->places[columnId]], &result);
    return exitDone;
}

static int resolveTable(Table* table, tpRestitution law, FILE* stream) {
    if (!readHeader(table)) {
        return exitBadInput;
    }
    fputs("id,px,py,pz,pz_mc\n", stream);
    for (;;) {
        LineResult result = readLine(table);
        if (result != lineRead) {
            return result == lineEnd ? exitDone : exitBadInput;
        }
        int status = resolveRow(table, law, stream);
        if (status != exitDone) {
            return status;
        }
    }
}

static bool copyHeld(FILE* held, tpOutputFile* output) {
    char bytes[4096];
    rewind(held);
    for (size_t size; (size = fread(bytes, 1, sizeof(bytes), held)) > 0;) {
        putOutput(output, bytes, size);
    }
    return ferror(held) == 0;
}

int runCollide(int argumentCount, char** arguments) {
    CollideOptions options = { .law = "poisson" };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    tpCommandFiles files = startFiles("collide");
    addOutput(&files, "--out", options.out);
    addInput(&files, "the table of impacts", options.file);
    if (!canWriteFiles(&files)) {
        return exitBadInput;
    }
    tpError error;
    Table table = { .name = options.file, .stream = tpOpenInput(options.file, NULL, &error) };
    if (table.stream == NULL) {
        fprintf(stderr, "tippe collide: %s\n", error.message);
        return exitBadInput;
    }
    // Standard output gets its rows at the end like any other place, or none.
    bool isHeld = options.out == NULL || isStandardOutput(options.out);
    tpOutputFile output = { .stream = NULL };
    bool isOpen = !isHeld && openOutput("collide", options.out, &output);
    FILE* held = isHeld ? tmpfile() : NULL;
    int status = exitBadInput;
    table.line.text = malloc(longestLine + 1);
    if (table.line.text == NULL || (isHeld && held == NULL)) {
        fprintf(stderr, "tippe collide: no temporary file: %s\n", strerror(errno));
        status = exitCouldNotGoOn;
    } else if (isHeld || isOpen) {
        tpRestitution law =
            strcmp(options.law, "stronge") == 0 ? tp_strongeRestitution : tp_poissonRestitution;
        status = resolveTable(&table, law, isHeld ? held : output.stream);
    }
    if (held != NULL && status == exitDone) {
        isOpen = openOutput("collide", "-", &output);
        status = isOpen && copyHeld(held, &output) ? exitDone : exitCouldNotGoOn;
    }
    if (isOpen && status != exitDone) {
        discardOutput(&output);
    } else if (isOpen && !commitOutput("collide", &output)) {
        status = exitCouldNotGoOn;
    }
    if (held != NULL) {
        fclose(held);
    }
    free(table.line.text);
    fclose(table.stream);
    return status;
}
