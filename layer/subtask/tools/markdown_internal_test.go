package tools

import (
	"net/url"
	"testing"
)

func TestAPageBecomesMarkdownThatSaysTheSame(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("http://ex.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		`a <b> bold </b>text <i>it<b>both</b></i>.`:                                          "a **bold** text *it**both***.",
		`snake_case *star* _x_ a[1](x) <q>1 &lt; 2 &lt;b&gt;</q>`:                            `snake_case \*star* \_x_ a[1\](x) 1 < 2 \<b>`,
		`<code>x | y</code> <kbd>a` + "`" + `b</kbd>`:                                        "`x | y` ``a`b``",
		`<h2>A <b>b</b><br>c</h2>text`:                                                       "## A **b** c\n\ntext",
		`<p>one<br>two</p><p>three`:                                                          "one\ntwo\n\nthree",
		`<ul><li>one<li>two<ul><li>in</ul><li>three</ul>after`:                               "- one\n- two\n  - in\n- three\n\nafter",
		`<ul><li><p>a</p><p>b</p></ul><ul></ul>c`:                                            "- a\n\n  b\n\nc",
		`<ol start=3><li>a</li><li><pre>x` + "\n\n" + `  y</pre></li></ol>`:                  "3. a\n4. ```\n   x\n\n     y\n   ```",
		`<blockquote><p>q<p>r<br>s<ul><li>i</ul></blockquote>out`:                            "> q\n>\n> r\n> s\n>\n> - i\n\nout",
		`<pre class=language-go>a <b>` + "```" + `</b><br>d</pre>x`:                          "````go\na ```\nd\n````\n\nx",
		`<b><pre>x</pre></b>y <b>un<p>closed`:                                                "```\nx\n```\n\ny **un**\n\n**closed**",
		`b<code>open <p>p</p>q`:                                                              "b`open`\n\np\n\nq",
		`<a href="/x"><h3>Title</h3><p>more</p></a>`:                                         "### [Title](http://ex.com/x)\n\nmore",
		`<a href="javascript:x">js</a> <a href="y(1)"> <b>p</b></a>`:                         "js [**p**](http://ex.com/a/y%281%29)",
		`<a href=u><img src=i.png alt="a [pic]"></a><img src=data:,x>`:                       `[![a \[pic\]](http://ex.com/a/i.png)](http://ex.com/a/u)`,
		`<title>t</title><textarea>no</textarea><template>no</template>y`:                    "y",
		`<p># no</p><p>- no</p>`:                                                             "\\# no\n\n\\- no",
		`<dl><dt>T<dd>D</dl><hr>x`:                                                           "T\nD\n\n* * *\n\nx",
		`<table><caption>C</caption><tr><th>A<th>B<tr><td>1<td>2|3</table>end`:               "C\n\n| A | B |\n|---|---|\n| 1 | 2\\|3 |\n\nend",
		`<table><tr><th colspan=2>A<th>B<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>`: "| A |  | B |\n|---|---|---|\n| 1 | 2 | 3 |\n|  | 4 | 5 |",
		`<table><tr><td>1<td><a href=/z>z</a><br>y</table>`:                                  "|  |  |\n|---|---|\n| 1 | [z](http://ex.com/z) y |",
		`<table><tr><td><table><tr><th>in</table><td><p>a</p><p>b</p></table>`:               "| in |\n|---|\n\na\n\nb",
	} {
		if got, cut, err := markdown(t.Context(), []byte(page), base); got != want || cut || err != nil {
			t.Errorf("%s\nis     %q\nwanted %q; %v, %v", page, got, want, cut, err)
		}
	}
}
