UNCANCELLABLE Future<Void> a(int x);
UNCANCELLABLE ACTOR Future<Void> b(int x);
#define ACTOR
#define DEFINE_ACTOR(name) \
    int x; /* ACTOR */ \
    ACTOR Future<Void> name() { return Void(); }
#define KIND "ACTOR" // ACTOR
int UNCANCELLABLE = 1;
