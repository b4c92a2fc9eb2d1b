use disksim::catalogue;
use measure::*;
fn places(sectors: u64, seed: u64, count: usize) -> Vec<Extent> {
    let (mut state, blocks) = (seed, sectors / 8);
    (0..count).map(|_| { state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Extent { sector: (state >> 16) % blocks * 8, sectors: 8 } }).collect()
}
#[test]
fn drift() {
    for name in std::env::var("NAMES").unwrap().split(',') {
        let model = catalogue::find(name).unwrap();
        let mut d = Simulated::new(model.description(7)).unwrap();
        let mut out = String::new();
        for w in 0..60u64 {
            let s: Vec<Extent> = (0..128).map(|i| Extent { sector: (w * 128 + i) * 2048, sectors: 2048 }).collect();
            let f = d.now_ns();
            d.write(&s, 8).unwrap();
            out += &format!("{:.0} ", 128.0 * 1048576.0 / (d.now_ns() - f) as f64 * 1e3);
        }
        println!("{name} stream {out}");
        let mut d = Simulated::new(model.description(7)).unwrap();
        let mut out = String::new();
        for w in 0..60u64 {
            let f = d.now_ns();
            d.write(&places(model.sectors, 5 + w, 50_000), 32).unwrap();
            out += &format!("{:.1} ", 50_000.0 / (d.now_ns() - f) as f64 * 1e6);
        }
        println!("{name} random {out}");
    }
}
