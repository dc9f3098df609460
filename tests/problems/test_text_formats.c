// Problems written in every text format and storage are read back with the same bits, and their
// kind is recognised.

#include "problem_text.h"

// Lower triangles stand for symmetric matrices only.
static void makeSymmetric(double* values, int size) {
    for (int j = 0; j < size; ++j) {
        for (int i = 0; i < j; ++i) {
            values[i + j * size] = values[j + i * size];
        }
    }
}

static void plainLcps(void** state) {
    (void)state;
    tpRandom random = { 1 };
    for (int n = 1; n <= 12; ++n) {
        double* M = randomMatrix(&random, n, n, 1, 0.8);
        double* q = randomVector(&random, n, -10.0);
        for (int hasSolution = 0; hasSolution <= 1; ++hasSolution) {
            Text text = { 0 };
            put(&text, "# a comment\n#\n%d %d\n", n, hasSolution);
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    put(&text, "%s%.17g", j == 0 ? "" : " ", M[i + j * n]);
                }
                put(&text, "\n");
            }
            putVector(&text, q, n);
            putVector(&text, q, n);
            tpProblem* problem = parse(&text, tp_anyProblem);
            assert_int_equal(problem->kind, tp_lcpProblem);
            assert_int_equal(problem->size, n);
            checkMatrix(&problem->matrix, M, n, n);
            checkVector(problem->q, q, n);
            tpDestroyProblem(problem);
            freeText(&text);
        }
        free(M);
        free(q);
    }
}

static void lcpsInEveryStorage(void** state) {
    (void)state;
    tpRandom random = { 2 };
    for (int storage = 0; storage < storageCount; ++storage) {
        for (int n = 1; n <= 12; ++n) {
            int blockSize = n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1;
            double* M = randomMatrix(&random, n, n, blockSize, 0.7);
            if (storage == lowerTriangle) {
                makeSymmetric(M, n);
            }
            double* q = randomVector(&random, n, -10.0);
            Text text = { 0 };
            put(&text, "%d\n", n);
            putMatrix(&text, (Storage)storage, M, n, n, blockSize);
            putVector(&text, q, n);
            put(&text, "\nRemark 1.2 of a book,\n# and more\n1 2 3\n");
            tpProblem* problem = parse(&text, tp_anyProblem);
            assert_int_equal(problem->kind, tp_lcpProblem);
            checkMatrix(&problem->matrix, M, n, n);
            checkVector(problem->q, q, n);
            tpDestroyProblem(problem);
            freeText(&text);
            free(M);
            free(q);
        }
    }
}

// A, B, C, D row by row, then a and b.
static void putParts(Text* text, const double* M, const double* q, int n, int m) {
    int size = n + m;
    const int corners[4][4] = { { 0, 0, n, n }, { n, n, m, m }, { 0, n, n, m }, { n, 0, m, n } };
    for (int part = 0; part < 4; ++part) {
        const int* c = corners[part];
        for (int i = 0; i < c[2]; ++i) {
            for (int j = 0; j < c[3]; ++j) {
                put(text, "%32.24e ", M[c[0] + i + (c[1] + j) * size]);
            }
            put(text, "\n");
        }
    }
    putVector(text, q, n);
    putVector(text, q + n, m);
}

static void mixedLcps(void** state) {
    (void)state;
    tpRandom random = { 3 };
    static const int sizes[][2] = { { 1, 1 }, { 2, 1 }, { 1, 3 }, { 3, 4 }, { 0, 3 }, { 5, 6 } };
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
        int n = sizes[s][0], m = sizes[s][1], size = n + m;
        double* M = randomMatrix(&random, size, size, 1, 0.7);
        double* q = randomVector(&random, size, -10.0);
        // Whole, in parts, both, and the old format without flags.
        for (int variant = 0; variant < 4; ++variant) {
            Text text = { 0 };
            bool whole = variant == 0 || variant == 2;
            if (variant < 3) {
                put(&text, "%d\n%d\n%d\n%d\n", whole, variant > 0, n, m);
            } else {
                put(&text, "%d %d %d\n", n, m, size);
            }
            if (whole) {
                put(&text, n > 0 ? "0 %d %d \n0 1 \n" : "0 %d \n1 \n", n > 0 ? n : size, size);
                putMatrix(&text, s % 2 == 0 ? dense : triplet, M, size, size, 1);
                putVector(&text, q, size);
            }
            if (variant > 0) {
                putParts(&text, M, q, n, m);
            }
            put(&text, variant < 3 ? " 0.985185 -0.000000\n" : "");
            tpProblem* problem = parse(&text, n == 0 ? tp_mixedLcpProblem : tp_anyProblem);
            assert_int_equal(problem->kind, tp_mixedLcpProblem);
            checkMatrix(&problem->matrix, M, size, size);
            checkVector(problem->q, q, size);
            for (int i = 0; i < size; ++i) {
                assert_int_equal(problem->isFree[i], i < n);
            }
            tpDestroyProblem(problem);
            freeText(&text);
        }
        free(M);
        free(q);
    }
}

// Blocks of variables may alternate between free and complementary.
static void mixedLcpsWithManyBlocks(void** state) {
    (void)state;
    static const char text[] = "1 0 3 3  0 1 3 4 6  0 1 0 1\n"
                               "2 6 6 1\nbanner\ntriplet: 6-by-6, nzmax: 1 nnz: 1\n 5 0 : 2\n"
                               "1 2 3 4 5 6";
    static const bool expected[6] = { true, false, false, true, false, false };
    tpProblem* problem = parse(&(Text){ (char*)text, sizeof(text) - 1, 0 }, tp_anyProblem);
    assert_memory_equal(problem->isFree, expected, sizeof(expected));
    tpDestroyProblem(problem);
}

static void frictionInEveryStorage(void** state) {
    (void)state;
    tpRandom random = { 4 };
    static const char* const trailers[] = { "", "0\n", "1\n", "  1", "\n\n" };
    for (int storage = 0; storage < storageCount; ++storage) {
        for (int dimension = 2; dimension <= 3; ++dimension) {
            for (int contacts = 1; contacts <= 5; ++contacts) {
                int size = dimension * contacts;
                double* W = randomMatrix(&random, size, size, dimension, 0.6);
                if (storage == lowerTriangle) {
                    makeSymmetric(W, size);
                }
                double* q = randomVector(&random, size, -10.0);
                double* mu = randomVector(&random, contacts, 0.0);
                Text text = { 0 };
                put(&text, "%d\n%d\n", dimension, contacts);
                putMatrix(&text, (Storage)storage, W, size, size, dimension);
                putVector(&text, q, size);
                putVector(&text, mu, contacts);
                put(&text, "%s", trailers[contacts - 1]);
                tpProblem* problem = parse(&text, tp_anyProblem);
                assert_int_equal(problem->kind,
                                 dimension == 2 ? tp_friction2dProblem : tp_friction3dProblem);
                assert_false(problem->isGlobal);
                assert_int_equal(problem->contactCount, contacts);
                assert_int_equal(problem->dimension, dimension);
                checkMatrix(&problem->matrix, W, size, size);
                checkVector(problem->q, q, size);
                checkVector(problem->mu, mu, contacts);
                tpDestroyProblem(problem);
                freeText(&text);
                free(W);
                free(q);
                free(mu);
            }
        }
    }
}

// Also with as many degrees of freedom as contact rows, where the beginning is that of a local one.
static void globalFriction(void** state) {
    (void)state;
    tpRandom random = { 5 };
    for (int storage = 0; storage < storageCount; ++storage) {
        for (int dofs = 6; dofs <= 18; dofs += 6) {
            int dimension = storage % 2 == 0 ? 3 : 2, contacts = storage % 2 == 0 ? 2 : 3;
            int size = dimension * contacts;
            double* M = randomMatrix(&random, dofs, dofs, 6, 0.9);
            double* H = randomMatrix(&random, dofs, size, dimension, 0.9);
            double* f = randomVector(&random, dofs, -10.0);
            double* b = randomVector(&random, size, -10.0);
            double* mu = randomVector(&random, contacts, 0.0);
            Text text = { 0 };
            put(&text, "%d\n%d\n", dimension, contacts);
            Storage stored = storage == lowerTriangle ? triplet : (Storage)storage;
            putMatrix(&text, stored, M, dofs, dofs, 6);
            putMatrix(&text, stored, H, dofs, size, dimension);
            putVector(&text, f, dofs);
            putVector(&text, b, size);
            putVector(&text, mu, contacts);
            tpProblem* problem = parse(&text, tp_anyProblem);
            assert_true(problem->isGlobal);
            assert_int_equal(problem->dimension, dimension);
            checkMatrix(&problem->matrix, M, dofs, dofs);
            checkMatrix(&problem->H, H, dofs, size);
            checkVector(problem->q, f, dofs);
            checkVector(problem->b, b, size);
            checkVector(problem->mu, mu, contacts);
            tpDestroyProblem(problem);
            freeText(&text);
            free(M);
            free(H);
            free(f);
            free(b);
            free(mu);
        }
    }
}

// Small files whose first numbers could be those of another kind.
static void ambiguousBeginnings(void** state) {
    (void)state;
    static const struct {
        const char* text;
        tpProblemKind kind;
        int size;
    } cases[] = {
        { "1 0 1 1 1 1 4 -2", tp_lcpProblem, 1 }, // not a mixed LCP of 1 and 1
        { "1 1 1 1 0 1 2 0 1 0 2 2 2 2 1 0 0 1 3 4", tp_mixedLcpProblem, 2 },
        { "2 0 2 2 2 2 1 0 0 1 -1 -1", tp_lcpProblem, 2 }, // not friction without contacts
        { "2 1\n1 2\n3 4\n5 6\n0 0\n", tp_lcpProblem, 2 }, // plain
        { "2 0\n1 2\n3 4\n5 6\n", tp_lcpProblem, 2 },      // plain, no z
        { "1 1\n1 0\n0 1 1 0 1 1 1 1 7 8\n", tp_mixedLcpProblem, 1 },
        { "2 1 0 2 2 2 2 1 0 0 1 -1 0.5 0.3", tp_friction2dProblem, 2 },
        // A local problem whose q begins like the header of H.
        { "2 2 0 4 4 4 4 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 4 4 5 0.1 0.2", tp_friction2dProblem,
          4 },
        { "3 0 0 0 0 0 0", tp_friction3dProblem, 0 },
        { "0 0 0 0 0 0", tp_lcpProblem, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        Text text = { (char*)cases[i].text, strlen(cases[i].text), 0 };
        tpProblem* problem = parse(&text, tp_anyProblem);
        if (problem->kind != cases[i].kind || problem->size != cases[i].size) {
            fail_msg("\"%s\" was read as %s of %d", cases[i].text,
                     tpProblemKind_Name(problem->kind), problem->size);
        }
        assert_false(problem->isGlobal);
        tpDestroyProblem(problem);
    }
}

static void fortranExponentsAndDuplicates(void** state) {
    (void)state;
    static const char text[] = "2\n2\n2\n2\n1\nCSparse\n  triplet: 2-by-2, nzmax: 9 nnz: 4\n"
                               " 1 1 : 1.5D+00\n 0 0 : 2.5d-1\n 1 1 : +1\n 0 1 : -1E2\n"
                               "-1.0D0 .5";
    tpProblem* problem = parse(&(Text){ (char*)text, sizeof(text) - 1, 0 }, tp_anyProblem);
    const double M[] = { 0.25, 0.0, -100.0, 2.5 }, q[] = { -1.0, 0.5 };
    checkMatrix(&problem->matrix, M, 2, 2);
    checkVector(problem->q, q, 2);
    tpDestroyProblem(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plainLcps),
        cmocka_unit_test(lcpsInEveryStorage),
        cmocka_unit_test(mixedLcps),
        cmocka_unit_test(mixedLcpsWithManyBlocks),
        cmocka_unit_test(frictionInEveryStorage),
        cmocka_unit_test(globalFriction),
        cmocka_unit_test(ambiguousBeginnings),
        cmocka_unit_test(fortranExponentsAndDuplicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
