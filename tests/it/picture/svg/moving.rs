//! Screens one after the other in one picture that moves without a script: style sheets show one group at a time.

use super::{BAR_HEIGHT, CELL_HEIGHT, PADDING, escaped, frame, line, text_of};
use regex::Regex;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The room for what is said below a screen.
const CAPTION_HEIGHT: f32 = 28.0;

/// A screen that is shown for a while.
pub struct Frame {
    /// What is said below it.
    pub caption: String,
    /// What is seen.
    pub screen: vt100::Screen,
    /// For how long.
    pub seconds: f32,
}

/// Draws screens of one size. Whoever wants no motion, and a program that moves nothing, sees the last one.
pub fn animate(frames: &[Frame], title: &str) -> String {
    let screen = &frames[0].screen;
    let mut svg = frame(screen, CAPTION_HEIGHT, title);
    svg.push_str(&style(frames));
    // Most lines stand in several frames: each is drawn once and used.
    let mut lines = BTreeMap::<String, usize>::new();
    let mut groups = String::new();
    for (number, one) in frames.iter().enumerate() {
        assert_eq!(one.screen.size(), screen.size(), "{:?}", one.caption);
        let said = format!("{}/{}  {}", number + 1, frames.len(), one.caption);
        writeln!(groups, r#"<g class="f" id="f{number}"><title>{}</title>"#, escaped(&one.caption)).unwrap();
        for row in 0..one.screen.size().0.get() {
            let drawn = line(&one.screen, row, 0);
            if !drawn.is_empty() {
                let next = lines.len();
                let id = *lines.entry(drawn).or_insert(next);
                let y = f32::from(row) * CELL_HEIGHT;
                writeln!(groups, r##"<use href="#l{id}" y="{y:.0}"/>"##).unwrap();
            }
        }
        let y = f32::from(screen.size().0.get()).mul_add(CELL_HEIGHT, BAR_HEIGHT + PADDING * 1.5) + 10.0;
        let place = format!(r#"x="{PADDING}" y="{y:.0}""#);
        writeln!(groups, r##"<text class="c" {place} fill="#79dfe8">{}</text></g>"##, escaped(&said))
            .unwrap();
    }
    svg.push_str("<defs>\n");
    for (drawn, id) in lines {
        writeln!(svg, r#"<g id="l{id}">{}</g>"#, drawn.trim_end()).unwrap();
    }
    svg.push_str("</defs>\n");
    svg.push_str(&groups);
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn style(frames: &[Frame]) -> String {
    let total: f32 = frames.iter().map(|frame| frame.seconds).sum();
    let last = frames.len() - 1;
    let mut style = format!("<style>\n.f{{visibility:hidden}}\n#f{last}{{visibility:visible}}\n");
    style.push_str("@media (prefers-reduced-motion:no-preference){\n");
    writeln!(style, ".f{{animation:{total}s step-end infinite}}").unwrap();
    let mut begins = 0.0;
    for (number, frame) in frames.iter().enumerate() {
        let (from, to) = (100.0 * begins / total, 100.0 * (begins + frame.seconds) / total);
        let before = if number == 0 { "" } else { "0%{visibility:hidden}" };
        let after = if number == last { "" } else { "{visibility:hidden}" };
        let end =
            if number == last { "100%{visibility:visible}".to_owned() } else { format!("{to:.3}%{after}") };
        writeln!(
            style,
            "#f{number}{{animation-name:k{number}}}@keyframes k{number}{{{before}{from:.3}%{{visibility:visible}}{end}}}"
        )
        .unwrap();
        begins += frame.seconds;
    }
    style.push_str("}\n</style>\n");
    style
}

/// What is said of each frame of a picture that moves, and the text in it.
pub fn frames_of(svg: &str) -> Vec<(String, String)> {
    let line = Regex::new(r#"(?s)<g id="l(\d+)">(.*?)</g>"#).unwrap();
    let lines: BTreeMap<&str, String> = line
        .captures_iter(svg)
        .map(|found| (found.get(1).unwrap().as_str(), text_of(found.get(2).unwrap().as_str())))
        .collect();
    let frame = Regex::new(r#"(?s)<g class="f" id="f\d+"><title>(.*?)</title>(.*?)</g>"#).unwrap();
    let used = Regex::new(r##"href="#l(\d+)""##).unwrap();
    let text = |body: &str| {
        used.captures_iter(body).map(|found| lines[&found[1]].as_str()).collect::<Vec<_>>().join("\n")
    };
    frame.captures_iter(svg).map(|found| (text_of(&found[1]), text(&found[2]))).collect()
}
