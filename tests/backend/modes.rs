//! The modes for testing clients: emulated versions, simulated limits and faults.

use crate::{Server, json};
use labscope::backend::{Failures, Modes, Options, Version, WorldKind};
use reqwest::{Method, Response, StatusCode};
use serde_json::json as value;
use std::time::{Duration, Instant};

async fn demo(modes: Modes) -> Server {
    Server::with(Options { world: WorldKind::Demo, modes, ..Options::default() }).await
}

fn header(reply: &Response, name: &str) -> Option<String> {
    Some(reply.headers().get(name)?.to_str().expect("text").to_owned())
}

/// GitLab, `Gitlab::Regex#merge_request_draft`, which has known no `WIP` since 15.0.
#[tokio::test(flavor = "multi_thread")]
async fn a_title_marks_a_draft_as_its_version_does() {
    for (version, is_new) in [(Version::V10_6, false), (Version::V17, true), (Version::V19, true)] {
        let server = demo(Modes::of(version)).await;
        for (title, marks) in [
            ("WIP: x", !is_new),
            ("[wip] x", !is_new),
            ("Draft: x", is_new),
            ("[draft] x", is_new),
            ("(DRAFT) x", is_new),
        ] {
            let change = server.put("bo", "/projects/acme%2Frocket-ui/merge_requests/42", &[("title", title)]).await;
            assert_eq!(json(change, 200).await["work_in_progress"], marks, "{version:?} {title}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_has_the_replies_of_its_time() {
    for (version, number) in
        [(Version::V17, "17.11.0-labscope"), (Version::V18, "18.11.0-labscope"), (Version::V19, "19.5.0-labscope")]
    {
        let server = demo(Modes::of(version)).await;
        // gitlabform does not start without `enterprise`, which both have had since 15.5 (`lib/api/metadata.rb`).
        for path in ["/version", "/metadata"] {
            let known = server.read("ada", path).await;
            let told = (known["version"].as_str(), known["enterprise"].as_bool());
            assert_eq!(told, (Some(number), Some(true)), "{path}");
            let kas = serde_json::json!({"enabled": false, "externalUrl": null, "externalK8sProxyUrl": null, "version": null});
            assert_eq!(known["kas"], kas, "{path}");
        }
        let mr = "/projects/acme%2Frocket-ui/merge_requests/42";
        server.post("bo", &format!("{mr}/approve"), &[]).await;
        let known = server.read("bo", &format!("{mr}/approvals")).await;
        assert_eq!(known["approved_by"][0].get("approved_at").is_some(), version >= Version::V18, "{known}");
        let again = server.post("bo", &format!("{mr}/approve"), &[]).await;
        let (status, length) = (again.status().as_u16(), again.bytes().await.expect("a reply").len());
        assert_eq!((status, length > 0), if version >= Version::V19 { (304, false) } else { (401, true) });

        let all = server.read("ada", "/merge_requests?scope=all&per_page=100").await.as_array().unwrap().len();
        let drafts = server.read("ada", "/merge_requests?scope=all&draft=true&per_page=100").await;
        let drafts = drafts.as_array().unwrap();
        assert_eq!(drafts.len() < all, version >= Version::V19);
        assert!(!drafts.is_empty());
        assert_eq!(drafts.iter().all(|mr| mr["work_in_progress"] == true), version >= Version::V19);

        let trace = "/projects/acme%2Frocket-ui/jobs/1/trace";
        let jobs = server.read("ada", "/projects/acme%2Frocket-ui/jobs?scope[]=success").await;
        let trace = trace.replace("/1/", &format!("/{}/", jobs[0]["id"]));
        let text = server.get("ada", &trace).await.text().await.expect("a trace");
        let part = server.get("ada", &format!("{trace}?byte_offset=5&byte_limit=7")).await;
        assert_eq!((part.status(), header(&part, "content-range")), (StatusCode::OK, None));
        let part = part.text().await.expect("a part");
        assert_eq!(part, if version >= Version::V19 { &text[5..12] } else { &text }, "{version:?}");
        let past = server.get("ada", &format!("{trace}?byte_offset=99999999")).await.text().await.expect("a part");
        assert_eq!(past.is_empty(), version >= Version::V19);
    }
}

/// In the specification, a diff names the file before the first hunk. Current servers do so only if they are asked to.
#[tokio::test(flavor = "multi_thread")]
async fn diffs_begin_with_the_first_hunk_unless_they_are_of_the_specification() {
    for version in [Version::V10_6, Version::V17, Version::default()] {
        let server = demo(Modes::of(version)).await;
        let at = "/projects/acme%2Frocket-ui";
        let request = server.read("ada", &format!("{at}/merge_requests/42")).await;
        let versions = server.get("ada", &format!("{at}/merge_requests/42/versions")).await;
        let versions: serde_json::Value = versions.json().await.expect("versions");
        let version_id = versions[0]["id"].clone();
        let paths = [
            (format!("/repository/commits/{}/diff", request["sha"].as_str().expect("a commit")), ""),
            ("/repository/compare?from=main&to=feature%2Frows".into(), "/diffs"),
            ("/merge_requests/42/changes".into(), "/changes"),
            ("/merge_requests/42/diffs".into(), ""),
            (format!("/merge_requests/42/versions/{version_id}"), "/diffs"),
        ];
        for (path, rows) in paths {
            let is_old = version == Version::V10_6;
            if is_old && (path.ends_with("/diffs") || path.contains("/versions/")) {
                continue;
            }
            let mark = if path.contains('?') { '&' } else { '?' };
            for (query, names) in [("", is_old), ("unidiff=false", is_old), ("unidiff=true", true)] {
                let reply = server.read("ada", &format!("{at}{path}{mark}{query}")).await;
                let list = reply.pointer(rows).and_then(|list| list.as_array()).expect("a list of files");
                let texts: Vec<&str> = list.iter().filter_map(|file| file["diff"].as_str()).collect();
                assert!(texts.iter().any(|text| !text.is_empty()), "{path}");
                let start = if names { "--- " } else { "@@ " };
                assert!(
                    texts.iter().all(|text| text.is_empty() || text.starts_with(start)),
                    "{version:?} {path}{query}"
                );
            }
        }
        if version != Version::V10_6 {
            json(server.get("ada", &format!("{at}/merge_requests/42/diffs?unidiff=x")).await, 400).await;
        }
    }
}

/// Where servers of today answer otherwise than the specification says: the statuses of both.
#[tokio::test(flavor = "multi_thread")]
async fn replies_that_changed_since_the_specification_are_those_of_the_version() {
    let at = |rest: &str| format!("/projects/acme%2Frocket-ui{rest}");
    let (get, post) = (Method::GET, Method::POST);
    let tag = [("tag_name", "v0.3.2"), ("ref", "main")];
    let calls = [
        ("ada", post, at("/repository/tags"), &tag[..], [405, 400]),
        ("ada", get.clone(), at("/repository/tree?path=nowhere"), &[], [200, 404]),
        ("ada", get.clone(), at("/repository/tree?path=src"), &[], [200, 200]),
        ("bo", get.clone(), "/users/2/keys".into(), &[], [403, 200]),
        ("bo", get.clone(), "/users/ada/keys".into(), &[], [403, 200]),
        ("bo", get.clone(), "/users/2/gpg_keys".into(), &[], [403, 200]),
        ("bo", get.clone(), "/users/2/gpg_keys/1".into(), &[], [403, 200]),
        ("", get, "/users/2/keys".into(), &[], [401, 401]),
    ];
    for (version, index) in [(Version::V10_6, 0), (Version::default(), 1)] {
        let server = demo(Modes::of(version)).await;
        for (user, method, path, form, statuses) in &calls {
            let reply = server.call(user, method.clone(), path).form(form).send().await.expect("a reply");
            assert_eq!(reply.status().as_u16(), statuses[index], "{version:?} {method} {path} by {user}");
        }
        let jobs = server.get("ada", &at("/jobs?per_page=2")).await;
        assert_eq!(header(&jobs, "x-total").is_some(), index == 0);
        assert_eq!(header(&jobs, "x-next-page").as_deref(), Some("2"));
        let compared = json(server.get("ada", &at("/repository/compare?from=nowhere&to=main")).await, 404).await;
        assert_eq!(compared["message"], ["404 Commit Not Found", "404 Ref Not Found"][index]);
        let compared = server.read("ada", &at("/repository/compare?from=v0.3.2&to=main")).await;
        assert_eq!(compared["web_url"].as_str().is_some_and(|url| url.contains("/-/compare/")), index == 1);
        let canceled = server.post("ada", &at("/merge_requests/42/cancel_auto_merge"), &[]).await;
        assert_eq!(canceled.status().as_u16(), [404, 409][index]);
    }
}

/// Version 10.6 knew neither input of a cherry-pick, and ignored both.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_server_ignores_the_message_and_the_trial_of_a_cherry_pick() {
    for (version, status) in [(Version::V10_6, 201), (Version::default(), 200)] {
        let server = demo(Modes::of(version)).await;
        let at = "/projects/acme%2Frocket-ui/repository";
        let before = server.read("ada", &format!("{at}/branches/main")).await["commit"]["id"].clone();
        let form = [("branch", "main"), ("dry_run", "true"), ("message", "Mine")];
        let pick = format!("{at}/commits/feature%2Frows/cherry_pick");
        let reply = json(server.post("ada", &pick, &form).await, status).await;
        let after = server.read("ada", &format!("{at}/branches/main")).await["commit"].clone();
        assert_eq!(after["id"] == before, version != Version::V10_6, "{reply}");
        assert_ne!(after["title"], "Mine");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_ranges_sends_the_whole_file() {
    for (has_ranges, status) in [(true, 206), (false, 200)] {
        let server = demo(Modes { has_ranges, ..Modes::default() }).await;
        let jobs = server.read("ada", "/projects/acme%2Frocket-ui/jobs?scope[]=success").await;
        let path = format!("/projects/acme%2Frocket-ui/jobs/{}/trace", jobs[0]["id"]);
        let request = server.call("ada", Method::GET, &path).header("range", "bytes=5-");
        let reply = request.send().await.expect("a reply");
        assert_eq!((reply.status().as_u16(), header(&reply, "accept-ranges").is_some()), (status, has_ranges));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_totals_names_only_the_next_page() {
    let server = demo(Modes { has_totals: false, ..Modes::default() }).await;
    let reply = server.get("ada", "/projects?per_page=1").await;
    assert_eq!((header(&reply, "x-total"), header(&reply, "x-total-pages")), (None, None));
    assert_eq!(header(&reply, "x-next-page").as_deref(), Some("2"));
    let links = header(&reply, "link").expect("links");
    assert!(links.contains("rel=\"next\"") && !links.contains("rel=\"last\""), "{links}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_beyond_the_limit_of_a_minute_are_refused_as_rack_attack_does() {
    let server = demo(Modes { rate_limit: Some(3), ..Modes::default() }).await;
    for left in ["2", "1", "0"] {
        let reply = server.get("ada", "/version").await;
        assert_eq!(reply.status(), StatusCode::OK);
        assert_eq!(header(&reply, "ratelimit-remaining").as_deref(), Some(left));
    }
    let refused = server.get("ada", "/version").await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(header(&refused, "ratelimit-observed").as_deref(), Some("4"));
    let wait: u64 = header(&refused, "retry-after").expect("a pause").parse().expect("seconds");
    assert!((1..=60).contains(&wait), "{wait}");
    let until = header(&refused, "ratelimit-resettime").expect("a time");
    let reset = jiff::fmt::rfc2822::parse(&until).unwrap_or_else(|error| panic!("{until}: {error}"));
    assert!(until.ends_with(" GMT"), "{until}");
    assert_eq!(header(&refused, "ratelimit-reset"), Some(reset.timestamp().as_second().to_string()));
    assert_eq!(refused.text().await.expect("a body"), "Retry later\n");
    assert_eq!(server.get("bo", "/version").await.status(), StatusCode::OK, "another token has its own limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_fail_in_all_ways_and_the_same_ones_with_the_same_seed() {
    let mut series = Vec::new();
    for _ in 0..2 {
        let failures = Some(Failures { rate: 0.5, seed: 3 });
        let server = demo(Modes { failures, ..Modes::default() }).await;
        let mut outcomes = Vec::new();
        for _ in 0..40 {
            let reply = server.get("ada", "/projects").await;
            let status = reply.status().as_u16();
            outcomes.push((status, reply.bytes().await.is_ok()));
        }
        series.push(outcomes);
    }
    assert_eq!(series[0], series[1]);
    for wanted in [(200, true), (200, false), (500, true), (502, true), (503, true)] {
        assert!(series[0].contains(&wanted), "{wanted:?} is not in {:?}", series[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_reply_is_lost_may_have_happened() {
    let server = demo(Modes { failures: Some(Failures { rate: 1.0, seed: 1 }), ..Modes::default() }).await;
    let honest = demo(Modes::default()).await;
    let path = "/projects/acme%2Frocket-ui/labels";
    let before = honest.read("ada", &format!("{path}?per_page=100")).await.as_array().unwrap().len();
    let (mut lost, mut refused) = (0, 0);
    for n in 0..12 {
        let reply = server.post("ada", path, &[("name", &format!("lost {n}")), ("color", "#112233")]).await;
        match reply.status().as_u16() {
            500 | 503 => refused += 1,
            201 | 502 => lost += 1,
            other => panic!("{other}"),
        }
    }
    assert!(lost > 0 && refused > 0, "{lost} {refused}");
    // Half of the list is enough to count: the requests of this server all fail, so its data is compared by size.
    let mut after = None;
    for _ in 0..20 {
        let reply = server.get("ada", &format!("{path}?per_page=100")).await;
        after = after.or(header(&reply, "x-total"));
    }
    assert_eq!(after, Some((before + lost).to_string()), "half a reply has its headers");
}

#[tokio::test(flavor = "multi_thread")]
async fn latency_delays_each_reply() {
    let server = demo(Modes { latency: Duration::from_millis(120), ..Modes::default() }).await;
    let began = Instant::now();
    let known = json(server.get("ada", "/version").await, 200).await;
    assert!(began.elapsed() >= Duration::from_millis(120));
    assert_ne!(known, value!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_diffs_have_a_limit_of_their_own() {
    let server = demo(Modes { diff_limit: Some(3), ..Modes::default() }).await;
    let mr = "/projects/acme%2Frocket-ui/merge_requests/42";
    for _ in 0..5 {
        assert_eq!(server.get("ada", mr).await.status(), 200, "other reads have no limit");
    }
    let compare = "/projects/acme%2Frocket-ui/repository/compare?from=main&to=feature%2Frows";
    let versions = server.read("ada", &format!("{mr}/versions")).await;
    let version = format!("{mr}/versions/{}", versions[0]["id"]);
    for path in [&format!("{mr}/diffs"), compare, &version] {
        assert_eq!(server.get("ada", path).await.status(), 200, "{path}");
    }
    let refused = server.get("ada", &format!("{mr}/changes")).await;
    assert_eq!((refused.status().as_u16(), header(&refused, "ratelimit-limit").as_deref()), (429, Some("3")));
    assert!(header(&refused, "retry-after").is_some());
    assert_eq!(server.get("bo", &version).await.status(), 200, "of each token");
}
