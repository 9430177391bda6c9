//! Members of projects and groups in the local server, and who may add, change and remove them.

use crate::{Server, each, json};
use labscope::backend::{Options, WorldKind};

const PROJECT: &str = "/projects/acme%2Frocket-ui/members";
const GROUP: &str = "/groups/acme/members";
/// A user who is only a member of a subgroup.
const BOT: &str = "pipeline-bot";

async fn demo() -> Server {
    Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await
}

async fn id(server: &Server, name: &str) -> String {
    server.read("root", &format!("/users?username={name}")).await[0]["id"].to_string()
}

#[tokio::test]
async fn a_member_can_be_added_changed_and_removed() {
    for (at, owner) in [(PROJECT, "ada"), (GROUP, "root")] {
        let server = demo().await;
        let bot = id(&server, BOT).await;
        let form = [("user_id", bot.as_str()), ("access_level", "20"), ("expires_at", "2999-01-31")];
        let made = json(server.post(owner, at, &form).await, 201).await;
        assert_eq!((&made["username"], &made["access_level"]), (&BOT.into(), &20.into()));
        assert_eq!(made["expires_at"], "2999-01-31");
        let again = json(server.post(owner, at, &form).await, 409).await;
        assert_eq!(again["message"], "Member already exists");
        assert!(each(&server.read("", at).await, "username").contains(&BOT), "{at}");
        let one = format!("{at}/{bot}");
        let changed = [("access_level", "30"), ("expires_at", "")];
        let changed = json(server.put(owner, &one, &changed).await, 200).await;
        assert_eq!((&changed["access_level"], &changed["expires_at"]), (&30.into(), &serde_json::Value::Null));
        assert_eq!(server.delete(owner, &one).await.status(), 204);
        assert_eq!(server.delete(owner, &one).await.status(), 404);
    }
}

#[tokio::test]
async fn roles_above_your_own_cannot_be_given_and_a_group_keeps_an_owner() {
    let server = demo().await;
    let bot = id(&server, BOT).await;
    let form = |level: &'static str| [("user_id", bot.as_str()), ("access_level", level)];
    assert_eq!(server.post("", PROJECT, &form("20")).await.status(), 401);
    assert_eq!(server.post(BOT, PROJECT, &form("20")).await.status(), 403);
    let ada = id(&server, "ada").await;
    assert_eq!(server.delete(BOT, &format!("{PROJECT}/{ada}")).await.status(), 403);
    assert_eq!(server.post("root", PROJECT, &form("33")).await.status(), 400);
    let nobody = [("user_id", "9999"), ("access_level", "20")];
    assert_eq!(json(server.post("root", PROJECT, &nobody).await, 404).await["message"], "404 User Not Found");
    // A maintainer, who is not an owner.
    let made = json(server.post("root", PROJECT, &form("40")).await, 201).await;
    assert_eq!(made["access_level"], 40);
    let cem = id(&server, "cem").await;
    let above = [("user_id", cem.as_str()), ("access_level", "50")];
    assert_eq!(server.post(BOT, PROJECT, &above).await.status(), 403);
    // One of two owners may be removed.
    json(server.post("root", GROUP, &form("50")).await, 201).await;
    let members = server.read("root", &format!("{GROUP}?per_page=100")).await;
    let owners: Vec<String> = members
        .as_array()
        .unwrap()
        .iter()
        .filter(|member| member["access_level"] == 50)
        .map(|member| member["id"].to_string())
        .collect();
    let (last, others) = owners.split_last().expect("an owner");
    for other in others {
        assert_eq!(server.delete("root", &format!("{GROUP}/{other}")).await.status(), 204);
    }
    assert_eq!(server.delete("root", &format!("{GROUP}/{last}")).await.status(), 403, "the last owner");
    assert_eq!(server.put("root", &format!("{GROUP}/{last}"), &[("access_level", "30")]).await.status(), 403);
    assert_eq!(server.put("root", &format!("{GROUP}/{last}"), &[("access_level", "50")]).await.status(), 200);
}

#[tokio::test]
async fn a_maintainer_removes_nobody_above_but_may_leave() {
    let server = demo().await;
    let (ada, bot, cem) = (id(&server, "ada").await, id(&server, BOT).await, id(&server, "cem").await);
    for (user, level) in [(&ada, "50"), (&bot, "40"), (&cem, "40")] {
        server.delete("root", &format!("{PROJECT}/{user}")).await;
        let form = [("user_id", user.as_str()), ("access_level", level)];
        json(server.post("root", PROJECT, &form).await, 201).await;
    }
    assert_eq!(server.delete(BOT, &format!("{PROJECT}/{ada}")).await.status(), 403, "an owner");
    assert!(each(&server.read("root", PROJECT).await, "username").contains(&"ada"));
    assert_eq!(server.delete(BOT, &format!("{PROJECT}/{cem}")).await.status(), 204, "another maintainer");
    assert_eq!(server.delete(BOT, &format!("{PROJECT}/{bot}")).await.status(), 204);
    assert_eq!(server.delete("ada", &format!("{PROJECT}/{ada}")).await.status(), 204);
}

#[tokio::test]
async fn members_can_be_searched_by_name_and_username() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    for (part, found) in [("lin", vec!["bo"]), ("bo", vec!["bo"]), ("SOMMER", vec!["ada"]), ("nobody", vec![])] {
        let members = server.read("ada", &format!("/projects/1/members?query={part}")).await;
        assert_eq!(each(&members, "username"), found, "{part}");
    }
}

#[tokio::test]
async fn members_can_leave_and_memberships_expire() {
    let server = demo().await;
    let bot = id(&server, BOT).await;
    let form = [("user_id", bot.as_str()), ("access_level", "10")];
    assert_eq!(server.post("root", PROJECT, &form).await.status(), 201);
    assert_eq!(server.delete(BOT, &format!("{PROJECT}/{bot}")).await.status(), 204);
    let past = [("user_id", bot.as_str()), ("access_level", "10"), ("expires_at", "2001-01-01")];
    assert_eq!(server.post("root", PROJECT, &past).await.status(), 201);
    assert!(!each(&server.read("root", PROJECT).await, "username").contains(&BOT));
}

#[tokio::test]
async fn a_member_is_read_by_number_direct_or_inherited() {
    let server = demo().await;
    let project = PROJECT.trim_end_matches("/members");
    let ada = id(&server, "ada").await;
    let one = server.read("root", &format!("{project}/members/all/{ada}")).await;
    assert_eq!(one["username"], "ada");
    assert!(one["access_level"].as_u64().is_some(), "{one}");
    let missing = json(server.get("root", &format!("{project}/members/all/7777")).await, 404).await;
    assert_eq!(missing["message"], "404 Not found");
    let direct = each(&server.read("root", PROJECT).await, "username").contains(&"ada");
    assert_eq!(server.get("root", &format!("{PROJECT}/{ada}")).await.status().is_success(), direct);
}
