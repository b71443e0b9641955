//! Keys in, tasks and screens out.

mod audit;
mod bulk;
mod colors;
mod decision;
mod helpers;
mod keys;
mod list;
mod live;
mod outlook;
mod privacy;
mod proposals;
mod scan;
mod screens;
mod sizes;
