//! Stacks: open merge requests whose target branch is the source branch of another open one of the same project.

use api::merge_requests::MergeRequest;
use std::collections::HashMap;

/// Returns whether `upper` is stacked directly on `lower`.
pub fn is_on(upper: &MergeRequest, lower: &MergeRequest) -> bool {
    let is_open = upper.is_open() && lower.is_open();
    let target = upper.target_branch();
    is_open
        && upper.id != lower.id
        && !target.is_empty()
        && target == lower.source_branch()
        && upper.project_id == lower.project_id
        && !lower.is_from_fork()
}

/// Returns the indexes of merge requests in the order of a tree, each with its depth: a layer follows the one that it is
/// stacked on. Others keep their order. A circle is cut at its first member.
pub fn tree<'a>(requests: impl Iterator<Item = &'a MergeRequest>) -> Vec<(usize, usize)> {
    let requests: Vec<&MergeRequest> = requests.collect();
    let mut by_source: HashMap<(u64, &str), usize> = HashMap::new();
    for (index, request) in requests.iter().enumerate().filter(|(_, request)| request.is_open()) {
        if !request.is_from_fork() && !request.source_branch().is_empty() {
            by_source.entry((request.project_id, request.source_branch())).or_insert(index);
        }
    }
    let lower = |request: &MergeRequest| {
        let lower = *by_source.get(&(request.project_id, request.target_branch()))?;
        requests.get(lower).is_some_and(|below| is_on(request, below)).then_some(lower)
    };
    let mut uppers: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut roots = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        match lower(request) {
            Some(below) => uppers.entry(below).or_default().push(index),
            None => roots.push(index),
        }
    }
    let mut order = Vec::with_capacity(requests.len());
    let mut is_listed = vec![false; requests.len()];
    // The members of a circle have no root: the first of them takes its place.
    for start in roots.into_iter().chain(0..requests.len()) {
        let mut waiting = vec![(start, 0)];
        while let Some((index, depth)) = waiting.pop() {
            let Some(listed) = is_listed.get_mut(index).filter(|listed| !**listed) else { continue };
            *listed = true;
            order.push((index, depth));
            let above = uppers.get(&index).map(Vec::as_slice).unwrap_or_default();
            waiting.extend(above.iter().rev().map(|index| (*index, depth + 1)));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(rows: &[(u64, &str, &str)]) -> Vec<MergeRequest> {
        let of = |(id, source, target): &(u64, &str, &str)| {
            let json = format!(
                r#"{{"id": {id}, "iid": {id}, "project_id": 1, "state": "opened", "source_branch": "{source}",
                    "target_branch": "{target}"}}"#
            );
            serde_json::from_str(&json).expect("a merge request")
        };
        rows.iter().map(of).collect()
    }

    fn order(rows: &[(u64, &str, &str)]) -> Vec<(u64, usize)> {
        let all = requests(rows);
        tree(all.iter()).into_iter().map(|(index, depth)| (rows[index].0, depth)).collect()
    }

    #[test]
    fn layers_follow_what_they_are_stacked_on() {
        let rows = [(5, "c", "b"), (4, "x", "main"), (3, "b", "a"), (2, "d", "a"), (1, "a", "main")];
        assert_eq!(order(&rows), [(4, 0), (1, 0), (3, 1), (5, 2), (2, 1)]);
        assert_eq!(order(&[(2, "b", "main"), (1, "a", "main")]), [(2, 0), (1, 0)]);
    }

    #[test]
    fn circles_are_cut() {
        assert_eq!(order(&[(1, "a", "b"), (2, "b", "a")]), [(1, 0), (2, 1)]);
        assert_eq!(order(&[(1, "a", "a")]), [(1, 0)]);
        assert_eq!(
            order(&[(1, "a", "c"), (2, "b", "a"), (3, "c", "b"), (4, "x", "c")]),
            [(1, 0), (2, 1), (3, 2), (4, 3)]
        );
    }

    #[test]
    fn branches_of_other_projects_are_no_base() {
        let mut all = requests(&[(1, "a", "main"), (2, "b", "a")]);
        assert!(is_on(&all[1], &all[0]));
        all[1].project_id = 9;
        assert!(!is_on(&all[1], &all[0]));
        assert_eq!(tree(all.iter()), [(0, 0), (1, 0)]);
    }
}
