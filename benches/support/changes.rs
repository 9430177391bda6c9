//! Generates the changes of a merge request of 200,000 lines.

/// The number of files, and of changed lines in each.
pub const FILES: usize = 5_000;
pub const LINES: usize = 40;

fn hunk(file: usize) -> String {
    let mut text = format!("@@ -10,{0} +10,{0} @@ impl Table{file} {{\n", LINES / 2 + 3);
    for n in 0..LINES / 2 {
        text.push_str(&format!("-    let value_{n} = compute(old_name, {n}, \"{file}\");\n"));
        text.push_str(&format!("+    let value_{n} = compute(new_name, {n}, \"{file}\");\n"));
    }
    text + "     one();\n     two();\n     three();\n"
}

/// Returns the reply of the server.
pub fn reply() -> Vec<u8> {
    let files: Vec<serde_json::Value> = (0..FILES)
        .map(|n| {
            let path = format!("src/part{}/file_{n:05}.rs", n / 50);
            serde_json::json!({"old_path": path, "new_path": path, "diff": hunk(n), "new_file": false,
                "renamed_file": false, "deleted_file": false, "a_mode": "100644", "b_mode": "100644"})
        })
        .collect();
    let whole = serde_json::json!({"id": 1, "iid": 7, "project_id": 1, "title": "Large", "state": "opened",
        "source_branch": "a", "target_branch": "b", "sha": "abc", "changes": files});
    serde_json::to_vec(&whole).unwrap_or_default()
}
