// Reaching definitions lead from each sum back to products.
#include "passes/shared/sites.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "passes/shared/contraction_latitude.hpp"

#include <algorithm>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;

namespace {

constexpr int longest_chain = 8; // of mov and neg between a product and a sum

bool is_product(const Inst& inst, const Inst& sum) {
  const bool mul = inst.op == Op::mul && is_unrounded(inst);
  return inst.mods.type == sum.mods.type && (mul || ends_in_product(inst));
}

// Hands its only source on, perhaps with the other sign.
bool passes_on(const ptx::Body& body, const Inst& inst) {
  return (inst.op == Op::mov || inst.op == Op::neg) && !inst.opaque && body.src(inst).size() == 1;
}

class Finder {
public:
  Finder(const ptx::Body& body, const Reaching& reaching) : body_(body), reaching_(reaching) {}

  [[nodiscard]] Site at(InstId sum) const {
    Site site;
    site.sum = sum;
    for (unsigned k = 0; k < 2; ++k) {
      collect(body_.src(body_.insts[sum])[k], body_.insts[sum], site.candidates[k], 0);
      site.product[k] = writable(sum, k);
    }
    return site;
  }

private:
  void collect(const Arg& arg, const Inst& sum, std::vector<InstId>& found, int depth) const {
    if (arg.kind != Arg::Kind::reg || depth > longest_chain) return;
    for (const InstId d : reaching_.definitions(arg.id)) {
      const Inst& inst = body_.insts[d];
      if (is_product(inst, sum)) {
        found.push_back(d);
      } else if (passes_on(body_, inst)) {
        collect(body_.src(inst)[0], sum, found, depth + 1);
      }
    }
  }

  [[nodiscard]] std::optional<Product> writable(InstId sum, unsigned k) const {
    const Inst& s = body_.insts[sum];
    Product product;
    Arg arg = body_.src(s)[k];
    InstId at = sum;
    for (int depth = 0; depth <= longest_chain; ++depth) {
      if (arg.kind != Arg::Kind::reg) return {};
      const InstId d = reaching_.only(arg.id, at);
      if (d == ptx::none) return {};
      const Inst& inst = body_.insts[d];
      if (inst.opaque) return {};
      if (is_product(inst, s)) {
        if (inst.mods.sat || inst.mods.ftz != s.mods.ftz) return {};
        // behind neg or mov, the product may be computed anew before the sum
        if (at != sum && reaching_.leads(at, d, at) && reaching_.leads(d, sum, at)) return {};
        product.mul = d;
        return product;
      }
      if (!passes_on(body_, inst)) return {};
      product.negated ^= inst.op == Op::neg;
      arg = body_.src(inst)[0];
      at = d;
    }
    return {};
  }

  const ptx::Body& body_;
  const Reaching& reaching_;
};

} // namespace

bool ends_in_product(const Inst& inst) {
  if (inst.opaque || inst.mods.type != ptx::Type::f32 ||
      inst.mods.rounding != ptx::Rounding::none) {
    return false;
  }
  return inst.op == Op::div || (inst.op == Op::rcp && !inst.mods.ftz);
}

Reaching::Reaching(const ptx::Body& body)
    : body_(body), definitions_(analysis::definitions(body)), before_(body.insts.size()),
      behind_(body.insts.size()) {
  const auto edge = [&](InstId from, InstId to) {
    if (to >= body.insts.size()) return;
    behind_[from].push_back(to);
    before_[to].push_back(from);
  };
  for (InstId n = 0; n < body.insts.size(); ++n) {
    const Inst& inst = body.insts[n];
    for (const InstId target : body.targets_of(inst))
      edge(n, target);
    const ptx::Effects effects = ptx::effects(body, inst);
    if ((!effects.branches && !effects.terminates) || inst.guard != ptx::none) edge(n, n + 1);
  }
}

InstId Reaching::only(ptx::RegId reg, InstId at) const {
  const auto& all = definitions_[reg];
  if (all.empty()) return ptx::none;
  InstId found = ptx::none;
  analysis::Worklist work(body_.insts.size());
  work.add(before_[at]);
  while (const auto n = work.next()) {
    if (!std::ranges::binary_search(all, *n)) {
      work.add(before_[*n]);
      continue;
    }
    if (found != ptx::none || body_.insts[*n].guard != ptx::none) return ptx::none;
    found = *n;
  }
  return found;
}

bool Reaching::leads(InstId from, InstId to, InstId stop) const {
  analysis::Worklist work(body_.insts.size());
  work.skip(stop);
  work.add(behind_[from]);
  while (const auto n = work.next()) {
    if (*n == to) return true;
    work.add(behind_[*n]);
  }
  return false;
}

bool Reaching::lasts(const Arg& arg, InstId at, InstId later) const {
  if (arg.kind != Arg::Kind::reg) return true;
  return std::ranges::none_of(definitions_[arg.id], [&](InstId d) {
    if (d == at) return true; // x = x * y
    return d != later && leads(at, d, at) && leads(d, later, at);
  });
}

std::vector<Site> find_sites(const ptx::Body& body, const Reaching& reaching) {
  const ContractionLatitude latitude(body);
  const Finder finder(body, reaching);
  std::vector<Site> sites;
  for (InstId n = 0; n < body.insts.size(); ++n)
    if (latitude.is_fusable(body.insts[n])) sites.push_back(finder.at(n));
  return sites;
}

} // namespace ptxasw::passes
