#!/bin/sh
# Runs judge.py by the first Python that has h5py, that of the system without what users have installed for themselves
# (another numpy there breaks its h5py). Skipped if there is none.
for python in python3 "/usr/bin/python3 -s"; do
    if $python -c 'import h5py, numpy' 2> /dev/null; then
        exec $python "$(dirname "$0")/judge.py" "$@"
    fi
done
echo "no Python with h5py"
exit 77
