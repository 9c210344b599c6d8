DESCR struct Fine { int a; std::map<int, int> b; }; //nothing to say
DESCR class C { int a; };
DESCR template <class T> struct D { T a; };
DESCR struct declared;
DESCR struct N::Qualified { int a; };
DESCR struct Fields {
public:
    int a, b;
    int c[3];
    int d : 4;
    int& e;
    void f();
    static int g;
    using h = int;
    struct Inner { int x; } i;
#if 1
    int;
#endif
};
struct Outer {
    DESCR struct InClass { int a; };
};
DESCR struct NoSemicolon { int a; }
int DESCR = 1;
