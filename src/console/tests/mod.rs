//! Keys in, tasks and screens out.

mod audit;
mod bulk;
mod colors;
mod decision;
mod finder;
mod helpers;
mod keys;
mod list;
mod live;
mod matching;
mod notice;
mod outlook;
mod privacy;
mod proposals;
mod samples;
mod scan;
mod screens;
mod sizes;
mod timeline;
