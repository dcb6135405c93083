//! Connections, and how much of this process they can hold: so many at once, and none whose client
//! neither sends a request nor takes an answer.

use crate::dashboard::Dashboard;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::{SendFlags, send};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep};

/// Sixteen clients may watch, each a browser with up to six connections to a server (Chromium,
/// `net/socket/client_socket_pool_manager.cc`).
const MOST_CONNECTIONS: usize = 96;
/// A client that takes longer to send the head of a request, or to take anything of an answer, is
/// dropped.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest head of a request, and what waits to be written for one client beside its answer.
const MOST_BUFFERED_BYTES: usize = 64 << 10;
/// What the kernel keeps for a client that does not read, before we see it: it doubles the
/// number (socket(7), `SO_SNDBUF`), and left alone goes up to four megabytes (tcp(7), `tcp_wmem`).
const SEND_BUFFER_BYTES: u32 = 64 << 10;
/// Connections that the kernel accepts before we do.
const BACKLOG: u32 = 128;
/// For a client that finds no place.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    connection: close\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    x-content-type-options: nosniff\r\n\
    cache-control: no-store\r\n\
    \r\n\
    As many clients as this dashboard serves are connected already.\n";

/// Listens at an address.
///
/// # Errors
/// What the kernel answers.
pub(crate) fn bound(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // A dashboard that ended a moment ago keeps nobody from its port.
    socket.set_reuseaddr(true)?;
    // Connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Places for clients.
pub(crate) struct Connections(Arc<Semaphore>);

impl Connections {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MOST_CONNECTIONS)))
    }

    /// Serves a client beside the others; where there is no place it is told so and turned away.
    pub(crate) fn serve(&self, socket: TcpStream, dashboard: &Dashboard) {
        let Ok(place) = Arc::clone(&self.0).try_acquire_owned() else {
            // One that cannot be told sees its connection closed.
            let _ = send(&socket, TURNED_AWAY, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            return;
        };
        let service = dashboard.service();
        tokio::spawn(async move {
            let socket = AttendedSocket { socket, patience: PATIENCE, stalled: None };
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .max_buf_size(MOST_BUFFERED_BYTES)
                .serve_connection(TokioIo::new(socket), service);
            // A client that went away has nobody to be told of it.
            let _ = served.await;
            drop(place);
        });
    }
}

/// A socket that is an error once its client has taken nothing of what is to be written for as
/// long as we have patience.
struct AttendedSocket {
    socket: TcpStream,
    patience: Duration,
    /// Ends patience; none while the client takes what there is.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl AttendedSocket {
    /// What an attempt to write came to, or that patience has ended.
    fn attended(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for AttendedSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_read(context, buffer)
    }
}

impl AsyncWrite for AttendedSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write(context, bytes);
        this.attended(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write_vectored(context, slices);
        this.attended(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::io::Read;
    use std::time::Instant;

    const SHORT: Duration = Duration::from_millis(500);

    #[test]
    fn the_threat_model_has_these_limits() {
        const PAGE: &str = include_str!("../../../docs/threat-model.md");
        let (seconds, head) = (PATIENCE.as_secs(), MOST_BUFFERED_BYTES >> 10);
        let kept = (2 * SEND_BUFFER_BYTES) >> 10;
        for told in [
            format!("{MOST_CONNECTIONS} connections at once"),
            format!("{seconds} s for the head of a request, {head} KiB at most"),
            format!("taken nothing for {seconds} s; the kernel keeps at most {kept} KiB"),
        ] {
            assert!(PAGE.contains(&told), "{told}");
        }
    }

    /// A socket of ours and its client's.
    async fn pair() -> (AttendedSocket, std::net::TcpStream) {
        let listener = bound("127.0.0.1:0".parse().unwrap()).unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().await.unwrap();
        (AttendedSocket { socket, patience: SHORT, stalled: None }, client)
    }

    /// Writes until the client takes no more; how much it took, and the error.
    async fn write_on(socket: &mut AttendedSocket, most: usize) -> (usize, Option<io::Error>) {
        let mut written = 0;
        while written < most {
            let write =
                poll_fn(|context| Pin::new(&mut *socket).poll_write(context, &[0; 1 << 14]));
            match write.await {
                Ok(length) => written += length,
                Err(error) => return (written, Some(error)),
            }
        }
        (written, None)
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn a_client_that_reads_nothing_holds_little_and_not_for_long() {
        runtime().block_on(async {
            let (mut socket, _client) = pair().await;
            let began = Instant::now();
            let (written, error) = write_on(&mut socket, 64 << 20).await;
            assert_eq!(error.unwrap().kind(), io::ErrorKind::TimedOut);
            assert!(began.elapsed() >= SHORT);
            // Two buffers of the kernel's: ours, and the client's before it has read anything.
            assert!(written < 4 << 20, "{written} bytes wait for one that does not read");
        });
    }

    /// How many clients may have no CPU for so long that they are dropped, rightly.
    const MOST_CLIENTS: u32 = 10;

    #[test]
    fn a_client_that_reads_slowly_is_waited_for() {
        let is_seen = (0..MOST_CLIENTS).any(|_| is_slow_client_waited_for());
        assert!(is_seen, "each of {MOST_CLIENTS} clients had no CPU for too long");
    }

    /// Whether all comes to a client that reads slowly; false where it had no CPU for too long.
    fn is_slow_client_waited_for() -> bool {
        runtime().block_on(async {
            let (mut socket, mut client) = pair().await;
            let reader = std::thread::spawn(move || {
                let (mut bytes, mut read) = (vec![0; 64 << 10], 0);
                let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
                loop {
                    match client.read(&mut bytes) {
                        Ok(0) | Err(_) => return (read, longest),
                        Ok(length) => read += length,
                    }
                    longest = longest.max(last.elapsed());
                    last = Instant::now();
                    // Altogether longer than patience lasts, each pause shorter.
                    std::thread::sleep(SHORT / 40);
                }
            });
            let began = Instant::now();
            let (written, error) = write_on(&mut socket, 8 << 20).await;
            let took = began.elapsed();
            drop(socket);
            let (read, longest) = reader.join().unwrap();
            if error.is_some() && longest > SHORT / 2 {
                return false;
            }
            assert!(error.is_none(), "{error:?} after {written} bytes");
            assert!(took > SHORT, "it was no slow client");
            assert_eq!(read, written);
            true
        })
    }
}
