//! State files among the saved texts. They are read at startup and set aside if unreadable; texts in which earlier
//! versions stored the same data are migrated once.

use super::journal;
use crate::app::place::Place;
use crate::app::state::{
    AccountState, ColumnChoice, DiffSettings, Kept, RecentsChange, SeenChange, SeenMergeRequest, SettingsChange,
    StateChange, StateFile, ViewedFiles,
};
use crate::app::text_key::DiskKey;
use crate::ui::diff::Layout;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// The suffix of files that were set aside.
pub(super) const BACKUP: &str = ".bak";

/// Returns whether a file with this name contains state, or did.
pub(super) fn is_state(name: &str) -> bool {
    let mut keys = StateFile::NAMES.iter().map(|file| DiskKey::State { file, account: "" }.to_string());
    keys.any(|key| name.starts_with(&journal::file_name(&key)))
}

/// Reads the state file with this key. If it is not fully understood, a copy is set aside.
pub(super) fn read(kept: &mut Kept, key: &str, text: &str, path: &Path) {
    let Some(DiskKey::State { file, account }) = DiskKey::parse(key) else { return };
    if !kept.states.entry(account.to_owned()).or_default().read(file, text) {
        let _ = fs::copy(path, backup_of(path));
    }
}

/// Sets an unreadable file aside.
pub(super) fn set_aside(path: &Path) {
    let _ = fs::rename(path, backup_of(path));
}

fn backup_of(path: &Path) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(BACKUP);
    name.into()
}

/// Migrates texts of earlier versions to the state. The texts are dropped once the state is on disk; unreadable ones
/// are set aside.
pub(super) fn migrate(folder: &Path, kept: &mut Kept) {
    let mut moved: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut keys: Vec<&String> = kept.texts.keys().collect();
    keys.sort_unstable();
    for key in keys {
        let Some(DiskKey::Text { account, key: own }) = DiskKey::parse(key) else { continue };
        let text = kept.texts.get(key).map(String::as_str).unwrap_or_default();
        let Some(changes) = changes(own, text) else { continue };
        match changes {
            Ok(changes) => {
                let state = kept.states.entry(account.to_owned()).or_default();
                for change in changes {
                    state.apply(&change);
                }
            }
            Err(_) => set_aside(&folder.join(journal::file_name(key))),
        }
        moved.entry(account.to_owned()).or_default().push(key.clone());
    }
    for (account, keys) in moved {
        kept.texts.retain(|key, _| !keys.contains(key));
        let files =
            kept.states.get(&account).map(|state| state.changed_since(&AccountState::default())).unwrap_or_default();
        // If writing fails, the texts are kept for the next attempt.
        let _ = write(folder, &account, &files).map(|()| {
            for key in keys {
                let _ = journal::save(folder, &key, None);
            }
        });
    }
}

fn write(folder: &Path, account: &str, files: &[StateFile]) -> io::Result<()> {
    let mut names = BTreeSet::new();
    for file in files {
        let key = DiskKey::State { file: file.name(), account }.to_string();
        journal::save(folder, &key, Some(&file.to_json()))?;
        names.insert(journal::file_name(&key));
    }
    journal::sync_all(&mut names, folder)
}

/// Converts a text of an earlier version to changes of the state. Returns `None` if the text was typed by the user.
fn changes(key: &str, text: &str) -> Option<serde_json::Result<Vec<StateChange>>> {
    let settings = |change| Some(Ok(vec![StateChange::Settings(change)]));
    let lines = || text.lines().filter(|line| !line.is_empty()).map(str::to_owned);
    let (kind, of) = match key {
        "pinned projects" | "look of changes" | "recent places" => (key, ""),
        _ => ["columns of ", "folders of ", "recent files of ", "looked at merge request ", "seen ", "viewed "]
            .into_iter()
            .find_map(|kind| Some((kind, key.strip_prefix(kind)?)))?,
    };
    // An empty text was used to hide that of another account.
    if text.is_empty() {
        return Some(Ok(Vec::new()));
    }
    match kind {
        "columns of " => Some(serde_json::from_str::<ColumnChoice>(text).map(|choice| {
            vec![StateChange::Settings(SettingsChange::Columns { place: of.to_owned(), choice: Some(choice) })]
        })),
        "pinned projects" => {
            let pin = |project| StateChange::Settings(SettingsChange::Pin { project, pinned: true });
            Some(Ok(lines().map(pin).collect()))
        }
        "look of changes" => {
            let has = |word: &str| text.split(' ').any(|known| known == word);
            let split = has("beside").then_some(Layout::Split);
            let layout = split.or(has("below").then_some(Layout::Unified));
            settings(SettingsChange::Diff(DiffSettings { layout, wraps: has("wrapped").then_some(true) }))
        }
        "recent places" => Some(serde_json::from_str::<Vec<Place>>(text).map(|places| {
            places.into_iter().rev().map(|place| StateChange::Recents(RecentsChange::Visit(place))).collect()
        })),
        "folders of " => {
            let change = RecentsChange::OpenFolders { project: of.to_owned(), folders: lines().collect() };
            Some(Ok(vec![StateChange::Recents(change)]))
        }
        "recent files of " => {
            let mut paths: Vec<String> = lines().collect();
            paths.reverse();
            let open = |path| StateChange::Recents(RecentsChange::OpenFile { project: of.to_owned(), path });
            Some(Ok(paths.into_iter().map(open).collect()))
        }
        "looked at merge request " => Some(serde_json::from_str::<SeenMergeRequest>(text).map(|seen| {
            let id = of.parse::<u64>().ok();
            id.map(|id| StateChange::Seen(SeenChange::MergeRequest(id, seen))).into_iter().collect()
        })),
        "seen " => {
            // The newest comes first. The key used to include the server.
            let merge_request = of.split_once(' ').map_or(of, |(_, rest)| rest);
            let mut heads: Vec<&str> = text.split_whitespace().collect();
            heads.reverse();
            let head = |sha: &str| {
                StateChange::Seen(SeenChange::Head {
                    merge_request: merge_request.to_owned(),
                    sha: sha.to_owned(),
                    base: None,
                })
            };
            Some(Ok(heads.into_iter().map(head).collect()))
        }
        _ => {
            let changes = of.split_once(' ').map_or(of, |(_, rest)| rest).to_owned();
            let file = |line: &str| {
                let (hash, path) = line.split_once(' ')?;
                Some((path.to_owned(), u64::from_str_radix(hash, 16).ok()?))
            };
            let files: ViewedFiles = text.lines().filter_map(file).collect();
            Some(Ok(vec![StateChange::Seen(SeenChange::Viewed { changes, files })]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::journal::{JournalWriter, file_name, load, save};
    use super::*;
    use std::path::PathBuf;

    fn pinned(path: &str) -> AccountState {
        let mut state = AccountState::default();
        state.apply(&StateChange::Settings(SettingsChange::Pin { project: path.into(), pinned: true }));
        state
    }

    fn settings_of(account: &str) -> String {
        DiskKey::State { file: "settings", account }.to_string()
    }

    fn path_of(folder: &Path, account: &str) -> PathBuf {
        folder.join(file_name(&settings_of(account)))
    }

    #[test]
    fn state_is_kept_per_account() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let journal = JournalWriter::start(folder.path().to_owned(), |_| true);
        for (account, path) in [("", "of/nobody"), ("ada", "of/ada")] {
            for file in pinned(path).changed_since(&AccountState::default()) {
                journal.save_state(account, file);
            }
        }
        journal.finish();
        let kept = load(folder.path()).kept;
        assert!(kept.texts.is_empty(), "{:?}", kept.texts);
        assert_eq!((&kept.states[""], &kept.states["ada"]), (&pinned("of/nobody"), &pinned("of/ada")));
    }

    #[test]
    fn texts_of_earlier_versions_are_migrated_once() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        for (key, text) in [
            ("@ada columns of tags", r#"{"columns":["name"],"order":"name","down":true}"#),
            ("@ada columns of users", "{"),
            ("@ada pinned projects", "a/b\nc/d"),
            ("@ada look of changes", "beside wrapped"),
            ("@ada recent places", r#"[{"pane":"mr","item":"2"},{"pane":"mr","item":"1"}]"#),
            ("@ada folders of a/b", "src\nsrc/ui"),
            ("@ada recent files of a/b", "new\nold"),
            ("@ada looked at merge request 7", r#"{"sha":"abc","notes":3,"at":""}"#),
            ("@ada seen host a/b!1", "two one"),
            ("@ada viewed host a/b!1 since one", "000000000000002a src/a file.rs"),
            ("@bo pinned projects", "e/f"),
            ("@cy look of changes", "below"),
            ("@ada draft a/b!1 5", "typed"),
            ("account host", "ada"),
        ] {
            save(folder.path(), key, Some(text)).expect("kept");
        }
        let kept = load(folder.path()).kept;
        assert_eq!(kept.account, "ada");
        assert_eq!(kept.texts.keys().collect::<Vec<_>>(), ["@ada draft a/b!1 5"]);
        assert_eq!(kept.states["bo"], pinned("e/f"));
        assert_eq!(kept.states["cy"].settings.diff, DiffSettings { layout: Some(Layout::Unified), wraps: None });
        let AccountState { settings, recents, seen } = &kept.states["ada"];
        assert_eq!((settings.columns.len(), settings.columns["tags"].order.as_deref()), (1, Some("name")));
        assert_eq!(settings.pinned_projects, ["a/b", "c/d"]);
        assert_eq!(settings.diff, DiffSettings { layout: Some(Layout::Split), wraps: Some(true) });
        assert_eq!(recents.places, [Place::new("mr").item(2), Place::new("mr").item(1)]);
        let project = recents.project("a/b").expect("a project");
        assert_eq!(
            (&project.open_folders[..], &project.files[..]),
            (&["src", "src/ui"].map(String::from)[..], &["new", "old"].map(String::from)[..])
        );
        assert_eq!(seen.merge_requests.get(&7).map(|seen| seen.notes), Some(3));
        let head = seen.heads.get("a/b!1").expect("a head");
        assert_eq!((head.last.as_str(), head.before.as_deref()), ("two", Some("one")));
        let viewed = seen.viewed.get("a/b!1 since one").expect("viewed files");
        assert_eq!(viewed, &ViewedFiles::from([("src/a file.rs".to_owned(), 42)]));
        // The next start reads the state. Of the texts, only the unreadable one is left.
        assert_eq!(load(folder.path()).kept, kept);
        let names = || fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name());
        let visible: Vec<String> = names().filter_map(|name| name.into_string().ok()).collect();
        let visible: Vec<&String> = visible.iter().filter(|name| !name.starts_with('.')).collect();
        assert_eq!(
            visible.len(),
            8,
            "three files of ada, one of bo and of cy, the account, a draft and a backup: {visible:?}"
        );
        assert!(visible.iter().any(|name| name.ends_with("users.bak")), "{visible:?}");
    }

    #[test]
    fn a_truncated_file_is_set_aside() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = path_of(folder.path(), "ada");
        let key = settings_of("ada");
        let [file] = &pinned("a/b").changed_since(&AccountState::default())[..] else { panic!("one file") };
        save(folder.path(), &key, Some(&file.to_json())).expect("kept");
        let whole = fs::read_to_string(&path).expect("it is there");
        fs::write(&path, &whole[..whole.len() - 4]).expect("cut");
        let kept = load(folder.path());
        assert_eq!((kept.kept.states.len(), kept.damaged.len()), (0, 0));
        assert!(!path.exists() && backup_of(&path).exists());
        // A file that was set aside is neither read again nor a state of its own.
        assert_eq!(load(folder.path()).kept.states.len(), 0);
    }

    #[test]
    fn a_file_of_a_later_version_is_read_partially_and_backed_up() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let (path, key) = (path_of(folder.path(), "ada"), settings_of("ada"));
        let later = r#"{"version":9,"pinned_projects":["a/b"],"columns":7,"themes":{}}"#;
        save(folder.path(), &key, Some(later)).expect("kept");
        let kept = load(folder.path()).kept;
        assert_eq!(kept.states["ada"], pinned("a/b"));
        assert!(fs::read_to_string(backup_of(&path)).expect("a backup").contains("themes"));
    }
}
