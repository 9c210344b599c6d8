ACTOR Future<Void> serve(FutureStream<Request> requests) {
    loop {
        try {
            Request r = waitNext(requests);
            r.reply.send(Void());
        } catch (Error& e) {
            log(e);
        }
    }
}

ACTOR Future<Void> silent(Future<Void> a) {
    try {
        wait(a);
    } catch (...) {
    }
    while (!done()) {
        try {
            wait(a);
        } catch (...) {
            continue;
        }
    }
    return Void();
}

ACTOR Future<Void> foreign(Future<int> level) {
    int value = wait(level);
    if (value < 0) {
        throw std::runtime_error("negative");
    }
    throw "positive";
}
