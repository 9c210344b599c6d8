ACTOR Future<Void> flush(Future<Void> disk);
ACTOR Future<int> count(Future<Void> disk);
ACTOR void log(Future<Void> disk);

ACTOR Future<Void> close(Future<Void> disk) {
    flush(disk);
    count(disk);
    log(disk);
    wait(disk);
    return Void();
}
