//! Servers on loopback that say exactly the bytes a test wants.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does with one request.
#[derive(Clone)]
pub(super) enum Act {
    /// Sends these bytes and closes.
    Say(Vec<u8>),
    /// Sends these bytes and then nothing, without closing.
    SayAndHang(Vec<u8>),
    /// Sends a head, then a piece again and again.
    Endless(Vec<u8>),
    /// Closes at once.
    Close,
}

/// A server with a script: the n-th request gets the n-th act, the last one again and again.
pub(super) struct Scripted {
    pub base: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    pub async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (seen, acts) = (seen.clone(), acts.clone());
                tokio::spawn(async move { serve(stream, &seen, &acts).await });
            }
        });
        Self { base, requests }
    }

    /// The requests, head and body, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, seen: &Mutex<Vec<String>>, acts: &[Act]) {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&buffer[..count]),
        }
    }
    let head_ends = head.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(0) + 4;
    let whole = head_ends + length_told(&head[..head_ends]);
    while head.len() < whole {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&buffer[..count]),
        }
    }
    let nth = {
        let mut seen = seen.lock().unwrap();
        seen.push(String::from_utf8_lossy(&head).into_owned());
        seen.len() - 1
    };
    match &acts[nth.min(acts.len() - 1)] {
        Act::Close => {}
        Act::Say(bytes) => {
            let _gone = stream.write_all(bytes).await;
            let _gone = stream.shutdown().await;
        }
        Act::SayAndHang(bytes) => {
            let _gone = stream.write_all(bytes).await;
            std::future::pending::<()>().await;
        }
        Act::Endless(piece) => {
            let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
            let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
            while stream.write_all(&chunk).await.is_ok() {}
        }
    }
}

/// How many bytes follow a head.
fn length_told(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_lowercase();
    let told = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    told.unwrap_or(0)
}

/// A whole answer with a right length.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> Act {
    Act::Say(raw(status, headers, body.len(), body))
}

/// An answer that tells this length, whatever it has.
pub(super) fn answer_of_length(length: usize, body: &str) -> Act {
    Act::Say(raw("200 OK", "", length, body))
}

pub(super) fn raw(status: &str, headers: &str, length: usize, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}")
        .into_bytes()
}
