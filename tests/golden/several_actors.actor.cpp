class Server {
    ACTOR static Future<Void> serve(Server* self, std::string& name) {
        loop {
            Request r = waitNext(self->requests.getFuture());
            answer(r)
        }
    }

    ACTOR static bool check(Server* self) {
        wait(self->ready);
        break;
    }

    ACTOR static Future<Void> stop(Server* self) {
        wait(self->stopped);
    }
};
