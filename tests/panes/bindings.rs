//! Keys of the places: what is bound, and what configured keys replace.

use labscope::app::bindings::*;
use labscope::app::keymap::{Meaning, parse_chord};
use labscope::panes::PANES;
use std::collections::HashMap;

#[test]
fn former_ids_of_commands_stay_valid() {
    let keys = |text: &str| vec![text.to_owned()];
    let meaning = |own: &[(&str, &str)], pressed: &str| {
        let own = own.iter().map(|(id, key)| ((*id).to_owned(), keys(key))).collect();
        let bindings = Bindings::new(PANES, &own).expect("valid keys");
        bindings.meaning("mr", &parse_chord(pressed).unwrap_or_default())
    };
    assert_eq!(meaning(&[("mr.next_comment", "F9")], "F9"), Meaning::Found("mr.next_thread"));
    // The present ID counts if both are given.
    let both = [("mr.next_comment", "F9"), ("mr.next_thread", "F8")];
    assert_eq!(meaning(&both, "F9"), Meaning::Nothing);
    assert_eq!(meaning(&both, "F8"), Meaning::Found("mr.next_thread"));
    for (_, present) in FORMER_IDS {
        assert!(Bindings::new(PANES, &HashMap::from([((*present).to_owned(), keys("F9"))])).is_ok(), "{present}");
    }
}

fn bound(rows: &[(&str, &str)]) -> Result<Bindings, String> {
    let own = rows.iter().map(|(id, key)| ((*id).to_owned(), vec![(*key).to_owned()])).collect();
    Bindings::new(PANES, &own).map_err(|error| error.to_string())
}

#[test]
fn own_keys_are_taken_from_the_commands_that_had_them() {
    let meaning = |rows: &[(&str, &str)], place: &str, pressed: &str| {
        bound(rows).expect("valid keys").meaning(place, &parse_chord(pressed).unwrap_or_default())
    };
    // Everywhere, and in places that give the key another meaning.
    assert_eq!(meaning(&[("quit", "r")], "todos", "r"), Meaning::Found("quit"));
    assert_eq!(meaning(&[("refresh", "x")], "todos", "x"), Meaning::Found("refresh"));
    assert_eq!(meaning(&[("todos.done", "X")], "todos", "X"), Meaning::Found("todos.done"));
    // In one place, and nowhere else.
    assert_eq!(meaning(&[("todos.done", "r")], "todos", "r"), Meaning::Found("todos.done"));
    assert_eq!(meaning(&[("todos.done", "r")], "issues", "r"), Meaning::Found("refresh"));
    // Keys that begin others, and keys that others begin.
    assert_eq!(meaning(&[("quit", "g")], "todos", "g"), Meaning::Found("quit"));
    assert_eq!(meaning(&[("todos.done", "q x")], "todos", "q x"), Meaning::Found("todos.done"));
    assert_eq!(meaning(&[("todos.done", "q x")], "todos", "q"), Meaning::Prefix);
    assert_eq!(meaning(&[("todos.done", "q x")], "issues", "q"), Meaning::Found("close"));
}

#[test]
fn what_lost_its_keys_is_shown_as_unbound() {
    let bindings = bound(&[("quit", "r"), ("todos.done", "X")]).expect("valid keys");
    let shown = |id| bindings.names().shown(id);
    assert_eq!((shown("quit").as_str(), shown("refresh").as_str()), ("r", "C-l · F5"));
    assert_eq!((shown("todos.done").as_str(), shown("todos.done_all").as_str()), ("X", "unbound"));
    // A key of one place changes nothing elsewhere, and a command without keys in the table has none.
    assert_eq!(bound(&[("todos.done", "r")]).expect("valid keys").names().shown("refresh"), "r · C-l · F5");
    assert_eq!(shown("theme"), "");
}

#[test]
fn conflicts_of_own_keys_name_both_commands() {
    let refused = |rows: &[(&str, &str)]| bound(rows).map(drop);
    let same = "keys.\"todos.done_all\": \"x\" conflicts with \"x\" of todos.done; change one of them";
    assert_eq!(refused(&[("todos.done", "x"), ("todos.done_all", "x")]), Err(same.to_owned()));
    let first = "keys.\"quit\": \"f\" conflicts with \"f x\" of refresh";
    assert!(refused(&[("quit", "f"), ("refresh", "f x")]).is_err_and(|error| error.starts_with(first)));
    // Two commands may swap their keys, and a place may give another meaning to a global key.
    assert_eq!(refused(&[("todos.done", "X"), ("todos.done_all", "x")]), Ok(()));
    assert_eq!(refused(&[("todos.done", "C-q"), ("quit", "C-q")]), Ok(()));
}
