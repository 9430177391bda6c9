//! Content by rule: where a demo needs a thousand files, rows or trace lines, nobody should have to write them.

use std::fmt::Write;

/// The next number of a fixed sequence (splitmix64): the same demo every time.
pub fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The content of file `i` of a generated set; `None` for a rule that does not exist.
pub fn file(rule: &str, i: usize) -> Option<String> {
    match rule {
        "icon" => Some(icon(i, "#1f6feb")),
        "icon-current" => Some(icon(i, "currentColor")),
        "points" => Some(points(40 * i)),
        "geojson" => Some(geojson(400)),
        _ => None,
    }
}

fn icon(i: usize, colour: &str) -> String {
    let (a, b, r) = (4 + i % 9, 6 + i % 7, 2 + i % 5);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"24\" height=\"24\" viewBox=\"0 0 24 24\">\n  \
         <circle cx=\"{a}\" cy=\"{b}\" r=\"{r}\" fill=\"{colour}\"/>\n  \
         <path d=\"M{a} {b}h{r}v{r}z\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n</svg>\n"
    )
}

fn points(rows: usize) -> String {
    let mut out = String::from("time,station,temperature,humidity,wind,note\n");
    let mut seed = rows as u64;
    for i in 0..rows {
        let station = ["harbour", "hilltop", "mill", "station 北", "市場"].get(i % 5).unwrap_or(&"mill");
        let r = next(&mut seed);
        let _ = writeln!(
            out,
            "2026-{:02}-{:02}T{:02}:{:02}:00Z,{station},{}.{},{},{}.{},",
            1 + i / 900 % 11,
            1 + i / 24 % 28,
            i % 24,
            r % 60,
            r % 24,
            r / 7 % 10,
            40 + r / 11 % 55,
            r / 13 % 14,
            r / 17 % 10
        );
    }
    out
}

/// One line of many thousand characters, as exporters write them.
fn geojson(points: usize) -> String {
    let mut out = String::from("{\"type\":\"FeatureCollection\",\"features\":[");
    let mut seed = 7;
    for i in 0..points {
        let (a, b) = (next(&mut seed) % 90_000, next(&mut seed) % 90_000);
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            out,
            "{comma}{{\"type\":\"Feature\",\"properties\":{{\"id\":{i},\"name\":\"point {i}\"}},\"geometry\":{{\"type\":\"Point\",\"coordinates\":[13.{a:05},52.{b:05}]}}}}"
        );
    }
    out.push_str("]}\n");
    out
}
