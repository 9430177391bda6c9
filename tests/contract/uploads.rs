//! Files that are attached to texts.

use labscope::api::uploads::*;

requests! {
    CreateUpload { id: 9.into(), file: Default::default() } => "POST /projects/9/uploads";
    GetUpload { id: "acme/ui".into(), secret: "0f1e2d3c4b5a69788796a5b4c3d2e1f0".into(), filename: "a plan.png".into() }
        => "GET /projects/acme%2Fui/uploads/0f1e2d3c4b5a69788796a5b4c3d2e1f0/a%20plan.png";
}

// The fields of the reply as the server's documentation of uploads names them.
samples! {
    NewUpload => r#"{"id": 41, "alt": "plan", "url": "/uploads/0f1e2d3c4b5a69788796a5b4c3d2e1f0/plan.png",
        "full_path": "/-/project/9/uploads/0f1e2d3c4b5a69788796a5b4c3d2e1f0/plan.png",
        "markdown": "![plan](/uploads/0f1e2d3c4b5a69788796a5b4c3d2e1f0/plan.png)"}"#;
}
