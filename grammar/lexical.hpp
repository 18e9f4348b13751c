// The tokens of PTX: names, numbers, strings, and what may stand between tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/analyze_traits.hpp>
#include <tao/pegtl/contrib/limit_depth.hpp>
#include <tao/pegtl/contrib/separated_seq.hpp>

namespace ptxasw::grammar {

namespace p = tao::pegtl;

struct name_char : p::ranges<'a', 'z', 'A', 'Z', '0', '9', '_', '_', '$'> {};

constexpr bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

// A string literal as a template argument.
template <std::size_t N> struct literal {
  char text[N]{};
  // NOLINTNEXTLINE(google-explicit-constructor): so that word<".reg"> can be written
  constexpr literal(const char (&from)[N]) { std::copy_n(from, N, text); }
  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

// A whole word: word<".reg"> does not match the beginning of ".region".
template <literal Text> struct word {
  using rule_t = word;
  using subs_t = p::empty_list;
  template <typename Input> static bool match(Input& in) {
    constexpr std::string_view text = Text.view();
    const std::size_t size = in.size(text.size() + 1);
    if (size < text.size() || std::string_view(in.current(), text.size()) != text) return false;
    if (size > text.size() && is_name_char(in.peek_char(text.size()))) return false;
    in.bump_in_this_line(text.size());
    return true;
  }
};

// Input nests at most this deep in what goes through `nested`; deeper input does not match.
inline constexpr std::size_t depth_limit = 64;

template <typename Rule> struct nested {
  using rule_t = nested;
  using subs_t = p::type_list<Rule>;
  template <p::apply_mode A, p::rewind_mode M, template <typename...> class Action,
            template <typename...> class Control, typename Input, typename... States>
  static bool match(Input& in, States&&... states) {
    const p::internal::depth_guard guard(in.private_depth);
    return in.private_depth <= depth_limit && p::match<Rule, A, M, Action, Control>(in, states...);
  }
};

// ---- Between tokens -------------------------------------------------------------------------

struct blank : p::one<' ', '\t', '\n', '\r', '\v', '\f'> {};
struct line_comment : p::seq<p::two<'/'>, p::star<p::not_one<'\n'>>> {};
struct block_comment : p::seq<p::string<'/', '*'>, p::until<p::string<'*', '/'>>> {};
struct comment : p::sor<line_comment, block_comment> {};
struct trivia : p::star<p::sor<p::plus<blank>, comment>> {}; // between statements

struct string_char : p::not_one<'"', '\n'> {};
struct string
    : p::seq<p::one<'"'>, p::star<p::sor<p::seq<p::one<'\\'>, p::not_one<'\n'>>, string_char>>,
             p::one<'"'>> {};

// # 5 "a.ptx"   #line 5 "a.ptx" 1 3
struct line_blanks : p::star<p::blank> {};
struct line_marker
    : p::seq<p::one<'#'>, line_blanks, p::opt<word<"line">>, line_blanks, p::plus<p::digit>,
             line_blanks, string, p::star<p::plus<p::blank>, p::plus<p::digit>>, line_blanks,
             p::opt<p::one<'\r'>>, p::at<p::eolf>> {};

struct separator : p::sor<p::plus<blank>, comment, line_marker> {};
struct gap : p::star<separator> {}; // inside a statement

// Rules with a gap between each two.
template <typename... Rules> struct phrase : p::separated_seq<gap, Rules...> {};

struct comma : p::one<','> {};
struct semicolon : p::one<';'> {};
struct colon : p::seq<p::one<':'>, p::not_at<p::one<':'>>> {};

template <typename Rule> struct comma_list : p::list<Rule, comma, separator> {};
template <typename Rule> struct parenthesized : phrase<p::one<'('>, Rule, p::one<')'>> {};

// ---- Names ----------------------------------------------------------------------------------

struct identifier : p::sor<p::seq<p::alpha, p::star<name_char>>,
                           p::seq<p::one<'%', '$', '_'>, p::plus<name_char>>> {};
struct selector : p::seq<p::one<'.'>, p::plus<name_char>> {}; // .x  .b0  .h1
struct name : p::seq<identifier, p::star<selector>> {};       // %tid.x
struct sink : p::seq<p::one<'_'>, p::not_at<name_char>> {};   // _

// .global   .shared::cta   .L2::cache_hint   .mbarrier::complete_tx::bytes
struct dotted : p::seq<p::one<'.'>, p::plus<name_char>, p::star<p::two<':'>, p::plus<name_char>>> {
};

// ---- Numbers --------------------------------------------------------------------------------

struct hexadecimal : p::seq<p::one<'0'>, p::one<'x', 'X'>, p::plus<p::xdigit>> {};
struct binary : p::seq<p::one<'0'>, p::one<'b', 'B'>, p::plus<p::one<'0', '1'>>> {};
struct decimal : p::plus<p::digit> {}; // octal with a leading 0
struct integer : p::seq<p::sor<hexadecimal, binary, decimal>, p::opt<p::one<'U'>>,
                        p::not_at<p::sor<name_char, p::one<'.'>>>> {};

struct float32 : p::seq<p::one<'0'>, p::one<'f', 'F'>, p::rep<8, p::xdigit>> {};
struct float64 : p::seq<p::one<'0'>, p::one<'d', 'D'>, p::rep<16, p::xdigit>> {};
struct exponent : p::seq<p::one<'e', 'E'>, p::opt<p::one<'+', '-'>>, p::plus<p::digit>> {};
struct fraction : p::seq<p::one<'.'>, p::star<p::digit>> {};
struct decimal_float
    : p::sor<p::seq<p::plus<p::digit>, p::sor<p::seq<fraction, p::opt<exponent>>, exponent>>,
             p::seq<p::one<'.'>, p::plus<p::digit>, p::opt<exponent>>> {};
struct real : p::seq<p::sor<float32, float64, decimal_float>, p::not_at<name_char>> {};

} // namespace ptxasw::grammar

namespace TAO_PEGTL_NAMESPACE {
template <typename Name, auto Text>
struct analyze_traits<Name, ptxasw::grammar::word<Text>> : analyze_any_traits<> {};
template <typename Name, typename Rule>
struct analyze_traits<Name, ptxasw::grammar::nested<Rule>> : analyze_seq_traits<Rule> {};
} // namespace TAO_PEGTL_NAMESPACE
