//! A wire between the program and a server that is cut at the one commit.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// When the wire is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before the server hears of the commit.
    Asked,
    /// When the server has answered, before that arrives.
    Answered,
    /// The same, and the program waits on for the answer.
    Held,
}

/// The wire.
pub struct Proxy {
    port: u16,
    has_cut: Arc<AtomicBool>,
}

/// What a client sends to commit.
const COMMIT: &[u8] = b"COMMIT\0";

impl Proxy {
    /// A wire to a port. After the cut it is there again for who comes anew.
    pub fn before(server: u16, when: When) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let has_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&has_cut);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let cut = Arc::clone(&cut);
                thread::spawn(move || {
                    // Where the server is gone, the client is let go.
                    if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                        join(client, server, when, &cut);
                    }
                });
            }
        });
        Self { port, has_cut }
    }

    /// The address on it.
    pub fn url(&self, role: &str, password: &str) -> String {
        format!("postgres://{role}:{password}@127.0.0.1:{}/postgres", self.port)
    }

    /// The same without a password.
    pub fn shown(&self, role: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/postgres", self.port)
    }

    /// Whether the commit came by.
    pub fn has_cut(&self) -> bool {
        self.has_cut.load(Ordering::SeqCst)
    }
}

/// Passes everything on until the commit.
fn join(mut client: TcpStream, mut server: TcpStream, when: When, cut: &AtomicBool) {
    let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let silent = Arc::new(AtomicBool::new(false));
    let is_silent = Arc::clone(&silent);
    let answered = Arc::new(AtomicBool::new(false));
    let has_answered = Arc::clone(&answered);
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = from_server.read(&mut buffer) {
            if is_silent.load(Ordering::SeqCst) {
                has_answered.store(true, Ordering::SeqCst);
            } else if to_client.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _closed = to_client.shutdown(Shutdown::Both);
    });
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        let is_commit = buffer[..count].windows(COMMIT.len()).any(|window| window == COMMIT);
        if is_commit && !cut.load(Ordering::SeqCst) {
            silent.store(true, Ordering::SeqCst);
            if when != When::Asked {
                server.write_all(&buffer[..count]).unwrap();
                super::process::wait_until("the commit's answer", || answered.load(Ordering::SeqCst));
            }
            cut.store(true, Ordering::SeqCst);
            if when != When::Held {
                break;
            }
        } else if server.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _closed = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
}
