ACTOR Future<Void> copy(Source from, Sink to) {
    state int i = 0;
    for (; i < 3; i++) {
        state Block block = wait(from.read(i));
        wait(to.write(block));
    }
    state int i = 7;
    choose {
        when(state Error from = wait(to.failed())) {
            throw from;
        }
    }
}
