//! The license.

use labscope::api::Reply;
use labscope::api::license::*;

requests! {
    GetLicense {} => "GET /license";
    AddLicense { license: "eyJk".into() } => "POST /license | license=eyJk";
}

samples! {
    License => r#"{
        "starts_at": "2015-10-24", "expires_at": "2016-10-24",
        "licensee": {"Name": "John Doe", "Company": "Doe, Inc.", "Email": "john@doe.com"},
        "user_limit": 100, "active_users": 60, "add_ons": {"FileLocks": 1, "Auditor_User": 1}
    }"#;
}

#[test]
fn a_missing_license_is_read_from_null() {
    assert_eq!(<Option<License>>::read(b"null", None), Ok(None));
}
