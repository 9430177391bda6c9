//! Resources as servers send them, for the scripted replies of several tests.

use serde_json::{Value, json};

/// Returns a note by `author`: `ada` has the ID 1, everybody else 2.
pub fn note(id: u64, author: &str, body: &str) -> Value {
    let number = if author == "ada" { 1 } else { 2 };
    json!({"id": id, "body": body, "author": {"id": number, "username": author}, "system": false,
        "created_at": "2026-06-15T10:00:00Z", "updated_at": "2026-06-15T10:00:00Z"})
}
