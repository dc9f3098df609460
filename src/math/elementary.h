// Elementary functions of our own.
//
// The C library's differ from system to system in their last bits, and so would every run that uses
// them. These are made of additions, multiplications, divisions and square roots in IEEE double
// precision, which are the same everywhere: the same scene gives the same bits on every machine and
// in the browser. Everything in src calls these; tests/architecture says when something calls the C
// library's instead. (Functions whose result is exact, floor, ldexp, fmod and the like, are the
// same everywhere anyway.)
//
// Errors are below 0.53 units in the last place (sinh and cosh 0.6, sin and cos 0.8, tan 0.9, tanh
// 2) for every argument; results below 2^-1022 are within one. Special values are those of C17,
// annex F.

#ifndef TIPPE_MATH_ELEMENTARY_H
#define TIPPE_MATH_ELEMENTARY_H

double tpSin(double x);
double tpCos(double x);
double tpTan(double x);
void tpSinCos(double x, double* sine, double* cosine); // the same bits as one by one

double tpAsin(double x);
double tpAcos(double x);
double tpAtan(double x);
double tpAtan2(double y, double x);

double tpExp(double x);
double tpExpm1(double x); // exp(x) - 1
double tpLog(double x);
double tpPow(double x, double y);
double tpSinh(double x);
double tpCosh(double x);
double tpTanh(double x);

double tpCbrt(double x);
double tpHypot(double x, double y);

double tpGamma(double x); // for x > 0, within 24 units in the last place; NaN otherwise

#endif
