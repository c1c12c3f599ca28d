/** Words that say nothing about what a text is about, English and Chinese, folded. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a about all also am an and any are as at be been but by can could did do does for from had has have he her him his how i if in",
    "into is it its just let me my no not of on or our out please she should so some than that the their them then there these they",
    "this to too up us was we were what when where which who whom whose why will with would yes you your",
    "的 了 是 在 我 你 他 她 它 们 我们 你们 他们 她们 它们 和 与 或 也 都 就 还 又 很 吗 呢 吧 啊 这 那 这个 那个 这些 那些 有 没有 不 要 会 能 可以",
    "什么 怎么 怎样 如何 为什么 哪 哪个 哪些 哪里 谁 多少 一个 一下 请 请问 把 被 给 对 到 从 上 下 里 中 着 过 得 地 之 其 而 但 但是 因为 所以 如果",
  ]
    .join(" ")
    .split(" "),
);
