//! A server of bench/http with hyper, on one thread: answers each request with 64 bytes, over HTTP/1.1, or over HTTP/2
//! if the third argument is "h2". Listens at a port of 127.0.0.1 until it is killed.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use tokio::net::TcpListener;

static BODY: [u8; 64] = [b'x'; 64];

async fn answer(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(&BODY)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

async fn serve(port: u16, is_http2: bool) -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let stream = TokioIo::new(stream);
        tokio::spawn(async move {
            let _ = if is_http2 {
                http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service_fn(answer)).await
            } else {
                http1::Builder::new().serve_connection(stream, service_fn(answer)).await
            };
        });
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let port = arguments.get(1).and_then(|text| text.parse().ok()).expect("usage: http_hyper PORT FOLDER plain|h2");
    let is_http2 = arguments.get(3).map_or(false, |text| text == "h2");
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(serve(port, is_http2))
}
