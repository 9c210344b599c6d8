//! The echo server of bench/net/echo.cpp with tokio, on one thread: prints its port, and ends when that many
//! connections have ended.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(count) = stream.read(&mut buffer).await {
        if count == 0 || stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

async fn serve(connections: usize) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    let mut running = Vec::new();
    for _ in 0..connections {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        running.push(tokio::spawn(echo(stream)));
    }
    for each in running {
        let _ = each.await;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let connections = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let connections = connections.expect("usage: echo_tokio CONNECTIONS");
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(serve(connections))
}
