//! A server with prepared replies, shared by the tests of the runtime.

use crate::api::client::{Client, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Answers each request with the next of `replies`. The task returns the heads of the requests in lower case.
pub async fn serve<R: AsRef<[u8]> + Send + 'static>(replies: Vec<R>) -> (Client, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = tokio::spawn(async move {
        let mut heard = Vec::new();
        for reply in replies {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            heard.push(String::from_utf8_lossy(&request).to_lowercase());
            // A client that has received enough may have closed the connection.
            let _ = stream.write_all(reply.as_ref()).await;
        }
        heard
    });
    (Client::new(Server::new(format!("http://{address}").parse().unwrap())).unwrap(), heard)
}
