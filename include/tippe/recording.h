// Output of a run: recordings in HDF5, tables in CSV, and the audit of a run.
//
// Recorders, tables and audits are created before the first step and called after every step. They
// read the world and never change it. A recording is plain HDF5 that h5py or MATLAB reads without
// Tippe; docs/recordings.md describes its layout.

#ifndef TIPPE_RECORDING_H
#define TIPPE_RECORDING_H

#include "tippe/joints.h"

// The audit: sums and extremes of a run -----------------------------------------------------------

enum { tp_auditFallbackCapacity = 16, tp_auditNoteCapacity = 16 };

typedef struct tpFallbackCount {
    const char* name; // a constant string of the stepper's
    int64_t count;    // steps it carried
} tpFallbackCount;

typedef struct tpNoteCount {
    const char* text; // a constant string of the library's
    int64_t count;    // steps that had it
} tpNoteCount;

// Sums and extremes over the steps of a run. Fill it through the functions below; read it freely.
// Extremes are NaN if a step reported one.
typedef struct tpAudit {
    double tolerance; // a residual above it is remembered; may be set after tpAudit_Start
    int64_t stepCount, solveCount, iterationCount, failureCount, substepCount, undoneCount;
    int64_t contactQueryCount;            // how often the contacts of all bodies were computed
    int64_t figures[tp_figureCapacity];   // of steppers: sums of counts, the largest of levels
    int64_t unconvergedCount;             // steps with a solve that did not reach its tolerance
    int64_t uncertifiedCount;             // steps beyond a limit of their certificate
    int64_t violationCounts[tp_lawCount]; // the same for each law
    int64_t firstUncertified;             // number of the first such step; 0: none
    // number of the first step whose residual is above `tolerance`; 0: none
    int64_t firstAboveTolerance;
    int64_t contactTotal;
    int contactMax;
    double startTime, endTime; // simulated, s
    double wallTime;           // s, from tpAudit_Start to the last step added
    double wallStart;          // s, of the monotonic clock
    double penetrationMax, residualMax, dissipationMax, coneMax, jointDriftMax;
    double energyStart, energyEnd; // kinetic and potential, J
    double
        energyIncreaseMax;  // J, largest rise of energy in one step beyond the external work; >= 0
    double energyExcessMax; // J, largest rise of energy minus work done above its lowest value
                            // before; >= 0
    double externalWork, frictionLoss, impactLoss; // J
    double numericalLoss;                          // J, part of impactLoss: numerical damping
    double gapShiftMax;      // m: largest change of a gap that made redundant contacts agree
    double roundingMax;      // largest proved lower bound of the residual of a solve
    double rigidResidualMax; // of runs with compliant contacts: under the law of rigid contact
    double errorEstimate;    // m, of positions at the end; 0 if the stepper does not estimate it
    double errorAsked;       // m, requested error of positions; 0 if the stepper has no accuracy
    double work;             // counted work of `auto`, ns
    unsigned leftOut;        // tp_lacks bits: what the scene has and the stepper does not support
    tpFallbackCount fallbacks[tp_auditFallbackCapacity];
    int fallbackCount;
    int64_t otherFallbackCount; // steps carried by fallbacks beyond the capacity
    tpNoteCount notes[tp_auditNoteCapacity];
    int noteCount; // those beyond the capacity are not kept
} tpAudit;

// Recorders ---------------------------------------------------------------------------------------

typedef struct tpRecorder tpRecorder;

typedef struct tpRecorderDef {
    const char* path; // of the file to write; one that exists is replaced. NULL: frames stay in
                      // memory, to be read by columns and saved by tpRecorder_Save
    const char* sceneText; // kept in the recording unchanged; may be NULL
    const char* sceneName; // may be NULL
    const char* scenePath; // as the user named the scene, for finding its meshes again; may be NULL
    double step;           // s, of one step
    int every;             // record every N-th step
    int compression;       // deflate level, 0 (none) to 9
    bool sync;             // force every commit to the disk (four in a second), so that a power cut
                           // costs no more than the death of the process: the last second
    bool background; // compress and write in a thread of the recorder's own. Set it to false in a
                     // program that calls HDF5 itself, which most builds of HDF5 do not allow
                     // from two threads; rows are then written by tpRecorder_Step.
    bool statesOnly; // in memory only: leaves out contacts, pairs and hashes; cannot be saved
    tpAllocator allocator;
} tpRecorderDef;

// One of the datasets that grow with the frames: docs/recordings.md lists them.
typedef struct tpRecordedColumn {
    const char* path; // of the dataset: "/reports/residual"
    const char* unit;
    const char* about;
    char type;        // 'd' double, 'i' int, 'q' int64_t, 'Q' uint64_t, 'B' unsigned char
    int width;        // numbers in a row
    int64_t rowCount; // 0 for a column that is not there
} tpRecordedColumn;

// Tables ------------------------------------------------------------------------------------------

typedef struct tpTable tpTable;

// Reading -----------------------------------------------------------------------------------------

typedef struct tpRecording tpRecording;

enum {
    tp_stateWidth = 13,    // x y z qw qx qy qz vx vy vz wx wy wz
    tp_coordinateWidth = 5 // q qd effort target target_speed; NaN for targets without a servo
};

typedef struct tpRecordingInfo {
    const char* version; // of the Tippe that wrote it
    const char* stepper;
    const char* sceneText;  // "" if there is none
    const char* sceneName;  // "" if there is none
    const char* scenePath;  // as the user named the scene; "" if it is not known
    const char* shapesText; // JSON, for drawing: docs/recordings.md
    double step;            // s
    int every;              // steps between two frames
    int64_t frameCount;     // recorded states: the start, and every N-th step
    int bodyCount;          // all bodies
    int movingCount;        // those with states: dynamic and kinematic
    int jointCount;
    int coordinateCount;  // of all joints; 0 in recordings of earlier versions
    int sensorValueCount; // of all sensors; 0 in recordings of earlier versions
    bool hasCarriers;     // the stepper may hand bodies over to other methods, and the recording
                          // says which
    int64_t contactCount; // of all frames
    int64_t pairCount;    // of all frames
    bool finished;        // closed by its recorder; false: the run was cut short
    bool planar;
    tpVec3 gravity;
} tpRecordingInfo;

typedef struct tpRecordedBody {
    const char* name; // "body7" for a body without a name
    tpBodyKind kind;
    double mass; // kg
    int moving;  // its place among the states, or -1
    tpPose pose; // of the body's frame at the start
} tpRecordedBody;

// A contact of a frame; bodies and shapes are places in the recording's lists.
typedef struct tpRecordedContact {
    int bodyA, bodyB; // -1: a body that was created during the run
    uint64_t feature;
    tpVec3 point, normal;
    double gap, normalImpulse;
    tpVec3 frictionImpulse;
    double torsionalImpulse, slidingSpeed;
    tpContactState state;
} tpRecordedContact;

// Impulses between two bodies since the previous frame, in all steps, recorded or not. The sum of
// the impulses of some frames divided by their time is the mean force.
typedef struct tpRecordedPair {
    int bodyA, bodyB;        // bodyA < bodyB; -1: a body that was created during the run
    tpVec3 impulse;          // N s, on body A
    double normalImpulse;    // N s, the sum of the normal parts
    int collisionCount;      // of steppers driven by events; 0 for others, as in the next two
    int microcollisionCount; // those that stand for lasting contact
    double energyLost;       // J, kinetic energy that both kinds of collisions took
} tpRecordedPair;

// Which method moved a body at a frame.
typedef struct tpRecordedCarrier {
    const char* method; // NULL: the stepper itself
    double step;        // s, of that method; 0: not known
    double error;       // m, estimated error of its position since the start; 0: not known
} tpRecordedCarrier;

TP_BEGIN_DECLS

TP_API void tpAudit_Start(tpAudit* audit, const tpWorld* world);
TP_API void tpAudit_AddStep(tpAudit* audit, const tpStepReport* report);

// The audit as one JSON object, or as a table for people, each ending in a newline. Writes at most
// `size` bytes with the closing zero and returns the length it needs without it, as snprintf does.
// Numbers that are not finite are null in JSON.
TP_API size_t tpAudit_FormatJson(const tpAudit* audit, char* buffer, size_t size);
TP_API size_t tpAudit_FormatTable(const tpAudit* audit, char* buffer, size_t size);

// The most memory the process ever held, in bytes.
TP_API int64_t tpPeakMemory(void);

TP_API tpRecorderDef tpDefaultRecorderDef(void);

// Creates the file and records the start. NULL on failure, with the reason in `error`; the file
// then does not exist, or is unchanged.
TP_API tpRecorder* tpCreateRecorder(const tpRecorderDef* def, const tpWorld* world, tpError* error);

// To be called after every step; records every N-th. Reports in between are merged into the next
// recorded one: counts and works add up, extremes are kept. What was written stays readable
// whatever happens. After a failure all further calls fail too.
TP_API tpResult tpRecorder_Step(tpRecorder* recorder, const tpWorld* world,
                                const tpStepReport* report, tpError* error);

// Of a recorder in memory (its path is NULL): writes all frames so far to a recording, with the
// audit (may be NULL) kept in it. The recorder goes on.
TP_API tpResult tpRecorder_Save(const tpRecorder* recorder, const char* path, const tpAudit* audit,
                                tpError* error);

// Of a recorder in memory: its columns, and all rows of one, copied to `rows`. Offsets of contacts
// and pairs have no leading zero. Labels of /reports/fallback and of notes; NULL if there is no
// such label.
TP_API int tpRecordedColumnCount(void);
TP_API tpRecordedColumn tpRecorder_GetColumn(const tpRecorder* recorder, int column);
TP_API void tpRecorder_CopyColumn(const tpRecorder* recorder, int column, void* rows);
TP_API const char* tpRecorder_GetLabel(const tpRecorder* recorder, int label);
// Names of the coordinates ("JOINT" or "JOINT.AXIS") and of the values of sensors ("SENSOR.x") of
// any recorder; NULL if there is no such number.
TP_API const char* tpRecorder_GetCoordinateName(const tpRecorder* recorder, int coordinate);
TP_API const char* tpRecorder_GetSensorColumn(const tpRecorder* recorder, int value);

// Finishes and closes the file, with the audit (may be NULL) kept in it, and frees the recorder,
// also on failure. NULL is allowed.
TP_API tpResult tpCloseRecorder(tpRecorder* recorder, const tpAudit* audit, tpError* error);

// Tables in CSV as the program writes them (docs/program.md): the trajectory with a row at the
// start, the contacts with a row for each contact, the coordinates of joints (value, speed and
// effort of each) with a row at the start. To be called after every step; writes every N-th. A path
// of "-" is standard output. A file that another run is writing is refused; an existing file is
// replaced at the first step, not before.
TP_API tpTable* tpCreateTrajectoryTable(const char* path, const tpWorld* world, int every,
                                        tpError* error);
TP_API tpTable* tpCreateContactTable(const char* path, const tpWorld* world, int every,
                                     tpError* error);
TP_API tpTable* tpCreateJointTable(const char* path, const tpWorld* world, int every,
                                   tpError* error);
TP_API tpResult tpTable_Step(tpTable* table, const tpWorld* world, tpError* error);
TP_API tpResult tpCloseTable(tpTable* table, tpError* error); // frees it, also on failure
// Closes and frees a table of a run that does not begin; the file stays unchanged.
TP_API void tpDiscardTable(tpTable* table);

// Reading. Frames are numbered from 0, the start. Ranges outside of the recording are refused;
// damaged files give an error, and so does a recording that a killed run left in need of
// tpRepairRecording. An allocator of NULL means the default one.
TP_API tpRecording* tpOpenRecording(const char* path, const tpAllocator* allocator, tpError* error);
TP_API void tpCloseRecording(tpRecording* recording);
TP_API const tpRecordingInfo* tpRecording_GetInfo(const tpRecording* recording);
TP_API tpRecordedBody tpRecording_GetBody(const tpRecording* recording, int body);
TP_API const char* tpRecording_GetJointName(const tpRecording* recording, int joint);
// "JOINT" or "JOINT.AXIS", and "SENSOR.x".
TP_API const char* tpRecording_GetCoordinateName(const tpRecording* recording, int coordinate);
TP_API const char* tpRecording_GetSensorColumn(const tpRecording* recording, int value);
// The summary (JSON) of a finished recording, or "".
TP_API const char* tpRecording_GetSummary(const tpRecording* recording);

TP_API tpResult tpRecording_ReadTimes(tpRecording* recording, int64_t first, int64_t count,
                                      double* times, tpError* error);
// count x movingCount x tp_stateWidth numbers.
TP_API tpResult tpRecording_ReadStates(tpRecording* recording, int64_t first, int64_t count,
                                       double* states, tpError* error);
// The states of one body: count x tp_stateWidth numbers.
TP_API tpResult tpRecording_ReadBodyStates(tpRecording* recording, int moving, int64_t first,
                                           int64_t count, double* states, tpError* error);
// tpWorld_HashState at each frame: two runs are the same bit for bit if their hashes agree.
TP_API tpResult tpRecording_ReadHashes(tpRecording* recording, int64_t first, int64_t count,
                                       uint64_t* hashes, tpError* error);
// Reports; their strings live as long as the recording. The report of frame 0 has energies only.
// Numbers that an older version did not record are 0; see tpRecording_HasReport.
TP_API tpResult tpRecording_ReadReports(tpRecording* recording, int64_t first, int64_t count,
                                        tpStepReport* reports, tpError* error);
// Whether reports have a number, by the name of its dataset: "budget_count". False for unknown
// names.
TP_API bool tpRecording_HasReport(const tpRecording* recording, const char* name);
// count + 1 offsets into the contacts: frame first + k has those from offsets[k] to offsets[k + 1].
TP_API tpResult tpRecording_ReadContactOffsets(tpRecording* recording, int64_t first, int64_t count,
                                               int64_t* offsets, tpError* error);
TP_API tpResult tpRecording_ReadContacts(tpRecording* recording, int64_t firstContact,
                                         int64_t count, tpRecordedContact* contacts,
                                         tpError* error);
// The same for pairs of bodies that pushed each other.
TP_API tpResult tpRecording_ReadPairOffsets(tpRecording* recording, int64_t first, int64_t count,
                                            int64_t* offsets, tpError* error);
TP_API tpResult tpRecording_ReadPairs(tpRecording* recording, int64_t firstPair, int64_t count,
                                      tpRecordedPair* pairs, tpError* error);
// Any column of the file, by the same numbers as in tpRecorder_GetColumn. Its values are
// not checked.
TP_API tpRecordedColumn tpRecording_GetColumn(const tpRecording* recording, int column);
TP_API tpResult tpRecording_ReadColumn(tpRecording* recording, int column, int64_t first,
                                       int64_t count, void* rows, tpError* error);
TP_API const char* tpRecording_GetLabel(const tpRecording* recording, int label);
// Force and torque of each joint, as tpJoint_GetReaction: count x jointCount x 6 numbers.
TP_API tpResult tpRecording_ReadReactions(tpRecording* recording, int64_t first, int64_t count,
                                          double* reactions, tpError* error);
// Coordinates of joints: count x coordinateCount x tp_coordinateWidth numbers; of one of them:
// count x tp_coordinateWidth.
TP_API tpResult tpRecording_ReadCoordinates(tpRecording* recording, int64_t first, int64_t count,
                                            double* numbers, tpError* error);
TP_API tpResult tpRecording_ReadCoordinate(tpRecording* recording, int coordinate, int64_t first,
                                           int64_t count, double* numbers, tpError* error);
// Values of sensors: count x sensorValueCount numbers; of one of them: count.
TP_API tpResult tpRecording_ReadSensors(tpRecording* recording, int64_t first, int64_t count,
                                        double* values, tpError* error);
TP_API tpResult tpRecording_ReadSensorValue(tpRecording* recording, int value, int64_t first,
                                            int64_t count, double* values, tpError* error);
// Which method moved one body: a row per frame. Always the stepper itself if the recording has no
// carriers. Names live as long as the recording.
TP_API tpResult tpRecording_ReadCarriers(tpRecording* recording, int moving, int64_t first,
                                         int64_t count, tpRecordedCarrier* carriers,
                                         tpError* error);

// The trajectory with the sensors, the coordinates of joints, and the contacts, of a recording as
// CSV, the same bytes the run would have written.
TP_API tpResult tpExportTrajectory(tpRecording* recording, const char* path, tpError* error);
TP_API tpResult tpExportJoints(tpRecording* recording, const char* path, tpError* error);
TP_API tpResult tpExportContacts(tpRecording* recording, const char* path, tpError* error);
// The reports of the frames as CSV, a column a dataset of /reports; words of fallbacks and notes in
// place of their numbers. Cells of numbers that the recording does not have are empty.
TP_API tpResult tpExportReports(tpRecording* recording, const char* path, tpError* error);

// Pairs of bodies as CSV: total impulses, mean forces, numbers and energy of
// collisions, over windows of `window` seconds (whole frames; 0: each frame; INFINITY: the run).
TP_API tpResult tpExportPairs(tpRecording* recording, const char* path, double window,
                              tpError* error);

// Makes a recording whose run was killed readable again; an intact recording is not changed.
// `repaired` (may be NULL) receives whether there was something to repair.
TP_API tpResult tpRepairRecording(const char* path, bool* repaired, tpError* error);

TP_END_DECLS

#endif
