// Approximate minimum degree on a quotient graph [AmestoyDavisDuff96].
//
// Eliminating a variable makes its neighbours a clique. The clique is kept as one list, an element,
// instead of its edges. A variable is then adjacent to variables and to elements, and its list
// (elements first, then variables) never grows: a new element takes the place of what it absorbs.
//
//     pivot p:  L_p = variables adjacent to p, directly or through its elements; those are absorbed
//     degree:   of i in L_p, at most |L_p \ i| + sum over other elements e of |L_e \ L_p| +
//               variables
//
// Variables with equal lists are merged into one with a weight. For the columns of A, every row is
// given as an element from the start: that is the graph of A'A.

#include "math/minimum_degree.h"

#include <math.h>
#include <string.h>

// A variable with more neighbours than this (and a row with more columns) is taken out and
// eliminated last. It would stand in nearly every list and make the ordering quadratic.
static const double denseFactor = 10.0;
enum { denseLeast = 16, NONE = -1 };

typedef struct EliminationGraph {
    int variableCount;
    int nodeCount; // variables first, then the elements given from the start
    int* list;     // where all lists lie
    int* spareList;
    int used, capacity;

    // Of each node. A node is a variable until it is eliminated, then an element until absorbed.
    int* start;
    int* length;       // 0 for what is absorbed, merged or out
    int* elementCount; // variables: entries of the list that are elements; they come first
    int* degree; // variables: bound on the weight of the neighbours; elements: weight of the list
    int* weight; // variables: how many they stand for; 0 once gone; negative while in L_p
    int* mergedInto; // the variable or pivot that took it over, or NONE
    int* outside;    // elements: weight of L_e \ L_p, valid if outsideOf is p
    int* outsideOf;
    bool* isElement; // alive as such

    // Variables by degree, doubly linked.
    int* head;
    int* next;
    int* previous;
    int least;

    // Variables of L_p by hash of their lists, to find equal ones.
    int* bucket;
    int* nextInBucket;
    int* hash;
    int* seen; // stamp of the last list that held a node, when lists were compared
    int stamp;
    int* scratch;

    int left;      // weight of all variables not yet eliminated
    int stepCount; // pivots so far
    int* pivots;
} EliminationGraph;

static bool createGraph(EliminationGraph* graph, int variables, int elements, int entries,
                        tpArena* arena) {
    int nodes = variables + elements;
    *graph = (EliminationGraph){ .variableCount = variables, .nodeCount = nodes };
    // Live lists never need more than the first ones; the rest is room for one new element, and to
    // make compaction rare.
    graph->capacity = entries + entries / 2 + variables + 1;
    graph->list = TP_SCRATCH(arena, int, graph->capacity);
    graph->spareList = TP_SCRATCH(arena, int, graph->capacity);
    int** ofNode[] = { &graph->start,    &graph->length,    &graph->elementCount,
                       &graph->degree,   &graph->weight,    &graph->mergedInto,
                       &graph->outside,  &graph->outsideOf, &graph->next,
                       &graph->previous, &graph->bucket,    &graph->nextInBucket,
                       &graph->hash,     &graph->seen,      &graph->scratch,
                       &graph->head,     &graph->pivots };
    for (size_t k = 0; k < sizeof ofNode / sizeof *ofNode; ++k) {
        *ofNode[k] = TP_SCRATCH(arena, int, nodes + 1);
    }
    graph->isElement = TP_SCRATCH_ZEROED(arena, bool, nodes + 1);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i <= nodes; ++i) {
        graph->head[i] = graph->bucket[i] = graph->seen[i] = NONE;
        graph->mergedInto[i] = graph->outsideOf[i] = NONE;
        graph->elementCount[i] = graph->length[i] = graph->weight[i] = 0;
    }
    return true;
}

// Degree lists ----------------------------------------------------------------------------------

static void insertByDegree(EliminationGraph* graph, int i) {
    int d = graph->degree[i];
    graph->next[i] = graph->head[d];
    graph->previous[i] = NONE;
    if (graph->head[d] != NONE) {
        graph->previous[graph->head[d]] = i;
    }
    graph->head[d] = i;
    graph->least = d < graph->least ? d : graph->least;
}

static void removeByDegree(EliminationGraph* graph, int i) {
    if (graph->next[i] != NONE) {
        graph->previous[graph->next[i]] = graph->previous[i];
    }
    if (graph->previous[i] != NONE) {
        graph->next[graph->previous[i]] = graph->next[i];
    } else {
        graph->head[graph->degree[i]] = graph->next[i];
    }
}

// One pivot -------------------------------------------------------------------------------------

// Room for one more element: moves what is alive to the other list.
static void compact(EliminationGraph* graph) {
    int used = 0;
    for (int i = 0; i < graph->nodeCount; ++i) {
        if (graph->length[i] > 0) {
            memcpy(graph->spareList + used, graph->list + graph->start[i],
                   sizeof(int) * (size_t)graph->length[i]);
            graph->start[i] = used;
            used += graph->length[i];
        }
    }
    int* list = graph->list;
    graph->list = graph->spareList;
    graph->spareList = list;
    graph->used = used;
}

static void absorb(EliminationGraph* graph, int element) {
    graph->isElement[element] = false;
    graph->length[element] = 0;
}

// Moves variables of a list to L_p, unless they are in it or gone. Returns their weight.
static int gatherVariables(EliminationGraph* graph, int begin, int count) {
    int total = 0;
    for (int k = begin; k < begin + count; ++k) {
        int v = graph->list[k], weight = graph->weight[v];
        if (weight > 0) {
            removeByDegree(graph, v);
            graph->weight[v] = -weight;
            graph->list[graph->used++] = v;
            total += weight;
        }
    }
    return total;
}

// L_p at the end of the list; absorbs the elements of p. p becomes an element.
static void formElement(EliminationGraph* graph, int p) {
    if (graph->capacity - graph->used < graph->variableCount) {
        compact(graph);
    }
    int begin = graph->used, listed = graph->start[p], elements = graph->elementCount[p];
    int pivotWeight = graph->weight[p], total = 0;
    graph->weight[p] = 0;
    for (int k = listed; k < listed + elements; ++k) {
        int e = graph->list[k];
        if (graph->isElement[e]) {
            total += gatherVariables(graph, graph->start[e], graph->length[e]);
            absorb(graph, e);
        }
    }
    total += gatherVariables(graph, listed + elements, graph->length[p] - elements);
    graph->start[p] = begin;
    graph->length[p] = graph->used - begin;
    graph->elementCount[p] = 0;
    graph->degree[p] = total;
    graph->isElement[p] = true;
    graph->left -= pivotWeight;
    graph->pivots[graph->stepCount++] = p;
}

// |L_e \ L_p| of all elements e that share a variable with L_p.
static void measureOutside(EliminationGraph* graph, int p) {
    for (int k = graph->start[p]; k < graph->start[p] + graph->length[p]; ++k) {
        int i = graph->list[k];
        const int* list = graph->list + graph->start[i];
        for (int m = 0; m < graph->elementCount[i]; ++m) {
            int e = list[m];
            if (!graph->isElement[e]) {
                continue;
            }
            if (graph->outsideOf[e] != p) {
                graph->outsideOf[e] = p;
                graph->outside[e] = graph->degree[e];
            }
            graph->outside[e] += graph->weight[i]; // negative in L_p
        }
    }
}

// Rewrites the list of i in L_p: p in place of what it covers. Leaves in degree[i] the bound
// without L_p itself. A variable that has no other neighbour goes with the pivot.
static void updateVariable(EliminationGraph* graph, int p, int i) {
    int* list = graph->list + graph->start[i];
    int* kept = graph->scratch;
    int count = 0, bound = 0;
    unsigned hash = 0;
    for (int m = 0; m < graph->elementCount[i]; ++m) {
        int e = list[m];
        if (!graph->isElement[e]) {
            continue;
        }
        if (graph->outside[e] == 0) {
            absorb(graph, e); // L_e lies within L_p
            continue;
        }
        kept[count++] = e;
        bound += graph->outside[e];
        hash += (unsigned)e;
    }
    kept[count++] = p;
    int elements = count;
    for (int m = graph->elementCount[i]; m < graph->length[i]; ++m) {
        int v = list[m];
        if (graph->weight[v] > 0) {
            kept[count++] = v;
            bound += graph->weight[v];
            hash += (unsigned)v;
        }
    }
    if (bound == 0) {
        graph->degree[p] += graph->weight[i];
        graph->left += graph->weight[i];
        graph->weight[i] = 0;
        graph->length[i] = 0;
        graph->mergedInto[i] = p;
        return;
    }
    memcpy(list, kept, sizeof(int) * (size_t)count);
    graph->elementCount[i] = elements;
    graph->length[i] = count;
    graph->degree[i] = bound < graph->degree[i] ? bound : graph->degree[i];
    int place = (int)(hash % (unsigned)graph->variableCount);
    graph->hash[i] = place;
    graph->nextInBucket[i] = graph->bucket[place];
    graph->bucket[place] = i;
}

// Whether the list of j has the nodes of that of i, which bear the stamp.
static bool hasSeenList(const EliminationGraph* graph, int i, int j) {
    if (graph->length[i] != graph->length[j] || graph->elementCount[i] != graph->elementCount[j]) {
        return false;
    }
    for (int k = graph->start[j]; k < graph->start[j] + graph->length[j]; ++k) {
        if (graph->seen[graph->list[k]] != graph->stamp) {
            return false;
        }
    }
    return true;
}

// Merges the variables of a bucket whose lists are equal.
static void mergeEqual(EliminationGraph* graph, int place) {
    int i = graph->bucket[place];
    graph->bucket[place] = NONE;
    for (; i != NONE && graph->nextInBucket[i] != NONE; i = graph->nextInBucket[i]) {
        ++graph->stamp;
        for (int k = graph->start[i]; k < graph->start[i] + graph->length[i]; ++k) {
            graph->seen[graph->list[k]] = graph->stamp;
        }
        int before = i;
        for (int j = graph->nextInBucket[i]; j != NONE; j = graph->nextInBucket[before]) {
            if (!hasSeenList(graph, i, j)) {
                before = j;
                continue;
            }
            graph->weight[i] += graph->weight[j]; // both negative
            graph->weight[j] = 0;
            graph->length[j] = 0;
            graph->mergedInto[j] = i;
            graph->nextInBucket[before] = graph->nextInBucket[j];
        }
    }
}

// Puts the variables of L_p back among the others, with their new degrees.
static void finishElement(EliminationGraph* graph, int p) {
    int kept = 0, begin = graph->start[p], total = graph->degree[p];
    for (int k = begin; k < begin + graph->length[p]; ++k) {
        int i = graph->list[k];
        if (graph->weight[i] == 0) {
            continue;
        }
        int weight = graph->weight[i] = -graph->weight[i];
        int degree = graph->degree[i] + total - weight, most = graph->left - weight;
        graph->degree[i] = degree < most ? degree : most;
        insertByDegree(graph, i);
        graph->list[begin + kept++] = i;
    }
    graph->length[p] = kept;
    graph->used = begin + kept;
    if (kept == 0) {
        absorb(graph, p);
    }
}

static void eliminateAll(EliminationGraph* graph) {
    graph->least = 0;
    while (graph->left > 0) {
        while (graph->head[graph->least] == NONE) {
            ++graph->least;
        }
        int p = graph->head[graph->least];
        removeByDegree(graph, p);
        formElement(graph, p);
        measureOutside(graph, p);
        int begin = graph->start[p], end = begin + graph->length[p];
        for (int k = begin; k < end; ++k) {
            updateVariable(graph, p, graph->list[k]);
        }
        for (int k = begin; k < end; ++k) {
            int i = graph->list[k];
            if (graph->weight[i] != 0 && graph->bucket[graph->hash[i]] != NONE) {
                mergeEqual(graph, graph->hash[i]);
            }
        }
        finishElement(graph, p);
    }
}

// Start and end ---------------------------------------------------------------------------------

static int denseLimit(int n) {
    double limit = denseFactor * sqrt((double)n);
    return limit > denseLeast ? (int)limit : denseLeast;
}

// Takes variable i in, unless it is dense.
static void admit(EliminationGraph* graph, int i, long long degree) {
    if (degree > denseLimit(graph->variableCount)) {
        graph->length[i] = 0;
        return;
    }
    int most = graph->variableCount - 1;
    graph->weight[i] = 1;
    graph->left += 1;
    graph->degree[i] = degree < most ? (int)degree : most;
    insertByDegree(graph, i);
}

// Pivots in the order of elimination, each followed by what was merged into it; dense ones at the
// end.
static void writeOrder(const EliminationGraph* graph, int* order) {
    int n = graph->variableCount;
    int* step = graph->hash;
    int* count = graph->head;
    for (int i = 0; i < n; ++i) {
        step[i] = graph->stepCount;
    }
    for (int k = 0; k < graph->stepCount; ++k) {
        step[graph->pivots[k]] = k;
    }
    memset(count, 0, sizeof(int) * (size_t)(graph->stepCount + 1));
    for (int i = 0; i < n; ++i) {
        int root = i;
        while (graph->mergedInto[root] != NONE) {
            root = graph->mergedInto[root];
        }
        // Later searches end here at once.
        for (int at = i; graph->mergedInto[at] != NONE;) {
            int above = graph->mergedInto[at];
            graph->mergedInto[at] = root;
            at = above;
        }
        step[i] = step[root];
        ++count[step[i]];
    }
    for (int k = 0, before = 0; k <= graph->stepCount; ++k) {
        int here = count[k];
        count[k] = before;
        before += here;
    }
    for (int i = 0; i < n; ++i) {
        order[count[step[i]]++] = i;
    }
}

bool tpMinimumDegree_Order(int n, const int* starts, const int* neighbours, tpArena* arena,
                           int* order) {
    tpArenaMark mark = tpArena_Mark(arena);
    EliminationGraph graph;
    bool enough = createGraph(&graph, n, 0, starts[n], arena);
    for (int i = 0; enough && i < n; ++i) {
        graph.start[i] = graph.used;
        for (int k = starts[i]; k < starts[i + 1]; ++k) {
            if (neighbours[k] != i) {
                graph.list[graph.used++] = neighbours[k];
            }
        }
        graph.length[i] = graph.used - graph.start[i];
    }
    // From the last to the first: equal degrees are then taken in the order given.
    for (int i = n - 1; enough && i >= 0; --i) {
        admit(&graph, i, graph.length[i]);
    }
    if (enough) {
        eliminateAll(&graph);
        writeOrder(&graph, order);
    }
    tpArena_Release(arena, mark);
    return enough;
}

// The rows of A as elements; those that are dense or hold nothing are left out.
static void listRows(EliminationGraph* graph, int rowCount, const int* starts, const int* rows) {
    int columnCount = graph->variableCount;
    int* rowLength = graph->length + columnCount;
    for (int k = 0; k < starts[columnCount]; ++k) {
        ++rowLength[rows[k]];
    }
    for (int i = 0; i < rowCount; ++i) {
        int e = columnCount + i, count = rowLength[i];
        graph->isElement[e] = count > 0 && count <= denseLimit(columnCount);
        graph->start[e] = graph->used;
        graph->used += graph->isElement[e] ? count : 0;
        graph->length[e] = 0;
    }
}

// Lists the rows of each column, and the columns of each row. Entries given twice are listed once.
static void listColumns(EliminationGraph* graph, const int* starts, const int* rows) {
    for (int j = 0; j < graph->variableCount; ++j) {
        graph->start[j] = graph->used;
        ++graph->stamp;
        for (int k = starts[j]; k < starts[j + 1]; ++k) {
            int e = graph->variableCount + rows[k];
            if (graph->isElement[e] && graph->seen[e] != graph->stamp) {
                graph->seen[e] = graph->stamp;
                graph->list[graph->used++] = e;
                graph->list[graph->start[e] + graph->length[e]++] = j;
            }
        }
        graph->length[j] = graph->elementCount[j] = graph->used - graph->start[j];
    }
}

// Weighs the rows, without the dense columns, and takes the other columns in.
static void admitColumns(EliminationGraph* graph, int rowCount) {
    int columnCount = graph->variableCount, limit = denseLimit(rowCount);
    for (int e = columnCount; e < graph->nodeCount; ++e) {
        graph->degree[e] = 0;
        for (int k = graph->start[e]; k < graph->start[e] + graph->length[e]; ++k) {
            graph->degree[e] += graph->length[graph->list[k]] <= limit;
        }
    }
    for (int j = columnCount - 1; j >= 0; --j) {
        long long degree = 0, most = denseLimit(columnCount);
        for (int k = graph->start[j]; k < graph->start[j] + graph->length[j]; ++k) {
            degree += graph->degree[graph->list[k]] - 1;
        }
        bool isDense = graph->length[j] > limit;
        admit(graph, j, isDense ? most + 1 : degree < most ? degree : most);
    }
}

bool tpMinimumDegree_OrderColumns(int rowCount, int columnCount, const int* starts, const int* rows,
                                  tpArena* arena, int* order) {
    tpArenaMark mark = tpArena_Mark(arena);
    EliminationGraph graph;
    bool enough = createGraph(&graph, columnCount, rowCount, 2 * starts[columnCount], arena);
    if (enough) {
        listRows(&graph, rowCount, starts, rows);
        listColumns(&graph, starts, rows);
        admitColumns(&graph, rowCount);
        eliminateAll(&graph);
        writeOrder(&graph, order);
    }
    tpArena_Release(arena, mark);
    return enough;
}
