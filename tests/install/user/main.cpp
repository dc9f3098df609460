// The public headers compile as C++.
#include <tippe/tippe.h>

int main() {
    tpVec3 sum = tpAdd(tpMakeVec3(1.0, 2.0, 3.0), tpMakeVec3(1.0, 1.0, 1.0));
    return sum.z == 4.0 && tpOptionCount() > 0 ? 0 : 1;
}
