//! Saves bytes of a server to a file: under another name until it is whole, from where an earlier try was left, and never
//! over a file that is there unless the person said so.

use crate::api::Error;
use crate::api::client::{Client, Download};
use crate::app::action::Msg;
use crate::app::transfer::{News, Order, file_name};
use crate::ui::text;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::fs;
use tokio::io::{AsyncSeekExt, AsyncWriteExt, BufWriter};
use tokio::sync::mpsc;

/// Between two words on how far it got.
const PULSE: Duration = Duration::from_millis(200);
/// How often a broken connection is taken up again by itself.
const TRIES: u32 = 4;
/// Before it is taken up again; each further time is twice as long.
const REST: Duration = Duration::from_millis(500);
/// Bytes that are gathered before they are written.
const BUFFER: usize = 256 * 1024;

/// Does `order`, and brings what happens to `sender` under `number`.
pub async fn save(client: &Client, number: u64, order: Order, sender: &mpsc::Sender<Msg>) {
    let news = match Saving::begin(&order).await {
        Ok(saving) => saving.run(client, number, sender).await,
        Err(news) => news,
    };
    let _ = sender.send(Msg::Transfer(number, news)).await;
}

struct Saving<'a> {
    order: &'a Order,
    path: PathBuf,
    part: PathBuf,
}

impl<'a> Saving<'a> {
    /// Finds out where the file goes.
    async fn begin(order: &'a Order) -> Result<Saving<'a>, News> {
        let mut path = place(&order.path, std::env::home_dir());
        if order.path.ends_with(std::path::is_separator) || fs::metadata(&path).await.is_ok_and(|m| m.is_dir()) {
            path.push(file_name(&order.save.name));
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match fs::metadata(folder).await {
            Ok(folder) if folder.is_dir() => {}
            Ok(_) => return Err(News::Failed(format!("{} is no folder", folder.display()))),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(News::Failed(format!("there is no folder {}", folder.display())));
            }
            Err(e) => return Err(News::Failed(format!("{} cannot be looked at: {e}", folder.display()))),
        }
        if !order.replace && fs::symlink_metadata(&path).await.is_ok() {
            return Err(News::Exists(path.display().to_string()));
        }
        let part = part(&path, order);
        Ok(Saving { order, path, part })
    }

    async fn run(&self, client: &Client, number: u64, sender: &mpsc::Sender<Msg>) -> News {
        let mut tries = 0;
        loop {
            let before = size_of(&self.part).await;
            match self.bring(client, number, sender).await {
                Ok(bytes) => return self.finish(bytes).await,
                Err(Broken::Disk(why)) => return News::Failed(why),
                Err(Broken::Line(error)) => {
                    // A connection that brought something is a good one: it may break as often as it likes.
                    tries = if size_of(&self.part).await > before { 1 } else { tries + 1 };
                    if tries >= TRIES || !error.is_passing() {
                        return News::Failed(error.said());
                    }
                    tokio::time::sleep(REST * 2_u32.pow(tries)).await;
                }
            }
        }
    }

    /// Brings what is missing; how many bytes there are then.
    async fn bring(&self, client: &Client, number: u64, sender: &mpsc::Sender<Msg>) -> Result<u64, Broken> {
        let have = size_of(&self.part).await;
        let mut download = client.stream(&self.order.save.request, have).await.map_err(Broken::Line)?;
        let file = fs::File::options().create(true).write(true).truncate(false).open(&self.part).await;
        let mut file = BufWriter::with_capacity(BUFFER, file.map_err(|e| self.disk(&e))?);
        // A server without ranges sends everything again, and what was there is written over.
        let mut held = download.start.min(have);
        file.get_ref().set_len(held).await.map_err(|e| self.disk(&e))?;
        file.seek(std::io::SeekFrom::Start(held)).await.map_err(|e| self.disk(&e))?;
        let total = download.length.and_then(|length| held.checked_add(length));
        let _ = sender.send(Msg::Transfer(number, News::Began { from: held, total })).await;
        let read = read(&mut download, &mut file, &mut held, number, sender).await;
        // Whatever ended it: what came is kept for the next time.
        let kept = async {
            file.flush().await?;
            file.get_ref().sync_all().await
        };
        let kept = kept.await;
        match read {
            Err(Read::Line(error)) => return Err(Broken::Line(error)),
            Err(Read::Disk(error)) => return Err(self.disk(&error)),
            Ok(()) => kept.map_err(|e| self.disk(&e))?,
        }
        if let Some(known) = [total, self.order.save.size].into_iter().flatten().find(|known| *known != held) {
            let _ = fs::remove_file(&self.part).await;
            return Err(Broken::Disk(format!("{} came instead of {}", bytes(held), bytes(known))));
        }
        Ok(held)
    }

    /// Gives the file its name.
    async fn finish(&self, bytes: u64) -> News {
        let (part, path, replace) = (self.part.clone(), self.path.clone(), self.order.replace);
        let named = tokio::task::spawn_blocking(move || {
            if replace {
                return std::fs::rename(&part, &path);
            }
            // Somebody may have made a file of that name meanwhile.
            let part = tempfile::TempPath::try_from_path(part)?;
            part.persist_noclobber(path).map_err(|e| {
                let _ = e.path.keep();
                e.error
            })
        });
        match named.await {
            Ok(Ok(())) => News::Done { path: self.path.display().to_string(), bytes },
            Ok(Err(e)) if e.kind() == ErrorKind::AlreadyExists => News::Exists(self.path.display().to_string()),
            Ok(Err(e)) => News::Failed(format!("it is whole, but stays {}: {e}", self.part.display())),
            Err(e) => News::Failed(e.to_string()),
        }
    }

    fn disk(&self, error: &std::io::Error) -> Broken {
        let part = self.part.display();
        Broken::Disk(match error.kind() {
            ErrorKind::StorageFull => format!("the disk is full; what came is kept in {part}"),
            ErrorKind::QuotaExceeded => format!("your quota of the disk is used up; what came is kept in {part}"),
            ErrorKind::PermissionDenied => format!("you may not write {part}"),
            ErrorKind::ReadOnlyFilesystem => format!("{part} is on a disk that is read-only"),
            _ => format!("{part} cannot be written: {error}"),
        })
    }
}

enum Broken {
    /// On the way: it may go on.
    Line(Error),
    /// Here.
    Disk(String),
}

enum Read {
    Line(Error),
    Disk(std::io::Error),
}

async fn read(
    download: &mut Download,
    file: &mut BufWriter<fs::File>,
    held: &mut u64,
    number: u64,
    sender: &mpsc::Sender<Msg>,
) -> Result<(), Read> {
    let mut told = Instant::now();
    while let Some(chunk) = download.chunk().await.map_err(Read::Line)? {
        file.write_all(&chunk).await.map_err(Read::Disk)?;
        *held += chunk.len() as u64;
        if told.elapsed() >= PULSE {
            told = Instant::now();
            let _ = sender.send(Msg::Transfer(number, News::Held(*held))).await;
        }
    }
    Ok(())
}

/// What a person typed as a path; `~` is their folder.
fn place(typed: &str, home: Option<PathBuf>) -> PathBuf {
    let typed = typed.trim();
    match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, Some(home)) if typed == "~" => home,
        _ => PathBuf::from(typed),
    }
}

/// The file beside it that holds what came so far: its name tells one request from another, so that only the same is
/// gone on with.
fn part(path: &Path, order: &Order) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    order.save.request.hash(&mut hasher);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{:08x}.part", hasher.finish() as u32))
}

/// Drops what came of an order that nobody wants any more.
pub async fn forget(order: Order) {
    if let Ok(saving) = Saving::begin(&Order { replace: true, ..order }).await {
        let _ = fs::remove_file(saving.part).await;
    }
}

async fn size_of(path: &Path) -> u64 {
    fs::metadata(path).await.map_or(0, |m| m.len())
}

fn bytes(count: u64) -> String {
    format!("{} bytes", text::count(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::client::Server;
    use crate::api::endpoint::Endpoint;
    use crate::api::repository::GetRawBlob;
    use crate::app::transfer::Save;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// A server that answers each request with the next of `replies`; the requests that it heard come back.
    async fn serve(replies: Vec<String>) -> (Client, tokio::task::JoinHandle<Vec<String>>) {
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
                stream.write_all(reply.as_bytes()).await.unwrap();
            }
            heard
        });
        (Client::new(Server::new(format!("http://{address}").parse().unwrap())).unwrap(), heard)
    }

    fn order(folder: &Path, path: &str) -> Order {
        let request = GetRawBlob { id: 7.into(), sha: "abc".into() }.request();
        Order { save: Save::new(request, "a.bin"), path: folder.join(path).display().to_string(), replace: false }
    }

    async fn end(client: &Client, order: Order) -> News {
        let (sender, mut inbox) = mpsc::channel(64);
        save(client, 1, order, &sender).await;
        drop(sender);
        let mut last = None;
        while let Some(Msg::Transfer(1, news)) = inbox.recv().await {
            last = Some(news);
        }
        last.unwrap()
    }

    fn whole(body: &str) -> String {
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    }

    #[tokio::test]
    async fn a_file_gets_its_name_when_it_is_whole_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (client, _) = serve(vec![whole("0123456789")]).await;
        let path = folder.path().join("a.bin").display().to_string();
        assert_eq!(end(&client, order(folder.path(), "")).await, News::Done { path, bytes: 10 });
        assert_eq!(std::fs::read(folder.path().join("a.bin")).unwrap(), b"0123456789");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn a_file_that_is_there_is_not_touched_until_one_says_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), "mine").unwrap();
        let (client, _) = serve(vec![whole("new")]).await;
        let mut order = order(folder.path(), "x");
        assert!(matches!(end(&client, order.clone()).await, News::Exists(_)));
        assert_eq!(std::fs::read_to_string(folder.path().join("x")).unwrap(), "mine");
        order.replace = true;
        assert!(matches!(end(&client, order).await, News::Done { bytes: 3, .. }));
        assert_eq!(std::fs::read_to_string(folder.path().join("x")).unwrap(), "new");
    }

    #[tokio::test]
    async fn a_broken_connection_goes_on_where_it_broke() {
        let folder = tempfile::tempdir().unwrap();
        let broken = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\n01234".to_owned();
        let rest = "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 5-9/10\r\ncontent-length: 5\r\n\
                    connection: close\r\n\r\n56789";
        let (client, heard) = serve(vec![broken, rest.into()]).await;
        assert!(matches!(end(&client, order(folder.path(), "x")).await, News::Done { bytes: 10, .. }));
        assert_eq!(std::fs::read_to_string(folder.path().join("x")).unwrap(), "0123456789");
        assert!(heard.await.unwrap()[1].contains("range: bytes=5-"));
    }

    #[tokio::test]
    async fn what_a_server_sends_again_is_written_over_and_a_wrong_size_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut order = order(folder.path(), "x");
        let part = part(&folder.path().join("x"), &order);
        std::fs::write(&part, "xxxxxxxxxxxxxxx").unwrap();
        let (client, _) = serve(vec![whole("0123456789"), whole("012")]).await;
        assert!(matches!(end(&client, order.clone()).await, News::Done { bytes: 10, .. }));
        assert_eq!(std::fs::read_to_string(folder.path().join("x")).unwrap(), "0123456789");
        order.path = folder.path().join("y").display().to_string();
        order.save.size = Some(4);
        let News::Failed(why) = end(&client, order.clone()).await else { panic!("it is shorter than it should be") };
        assert_eq!(why, "3 bytes came instead of 4 bytes");
        order.path = folder.path().join("none/y").display().to_string();
        assert!(matches!(end(&client, order).await, News::Failed(why) if why.starts_with("there is no folder")));
    }

    #[test]
    fn a_path_may_begin_at_home() {
        assert_eq!(place("~/a", Some("/h".into())), PathBuf::from("/h/a"));
        assert_eq!(place("a~/b", Some("/h".into())), PathBuf::from("a~/b"));
    }
}
