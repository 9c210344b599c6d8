ACTOR Future<Void> retry(Transaction tr) {
    loop {
        try {
            wait(tr.commit());
            return Void();
        } catch (Error& e) {
            wait(tr.onError(e));
            throw;
        }
    }
}

ACTOR Future<Void> catches(Future<Void> f) {
    try {
        wait(f);
    } catch (Error e) {
        throw;
    } catch (std::exception& e) {
        throw;
    }
    throw;
}
