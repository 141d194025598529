// Package tools has the tools with which an agent explores a source tree and reads the web: read_file,
// list_dir, glob and grep over one folder, and fetch_url.
//
//	files, err := tools.NewFiles(tools.FilesConfig{Root: "/srv/checkout"})
//	…
//	defer files.Close()
//	fetch, err := tools.NewFetch(tools.FetchConfig{})
//	…
//	llmagent.New(llmagent.Config{Tools: append(files.Tools(), fetch), …})
//
// They are ordinary ADK function tools and only read. Each limits its results and its work: no call
// returns more than [FilesConfig].ResultBytes, reads a huge file whole, or goes on after its context has ended. A call
// that takes longer than [FilesConfig].Timeout or [FetchConfig].Timeout ends by itself.
// A failure is a result with the field error, written for the model: it says what is wrong, and what to do
// instead.
//
// # Files
//
// No path leads out of the root: neither "..", an absolute path, nor a link. Links are followed only inside the root,
// absolute ones never; glob and grep follow none. Only regular files are opened: a FIFO, a device
// or a socket would block the agent, and files of the proc filesystem are not data. A hard link cannot be told from
// the file itself, so a file that somebody has linked into the root can be read. The tools see what the process may
// read: keep secrets out of the root.
//
// # Web pages
//
// fetch_url reaches public addresses only. The address is judged when the connection is made, not when the name is
// checked, so a name that changes its address in between and a redirect are refused like a plain private
// address. A page comes from outside: each result says that it is data, not instructions.
package tools
