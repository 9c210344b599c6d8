ACTOR Future<int> immediate() {
    return 1;
}

ACTOR void nothing() {
}
