package integration_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"google.golang.org/genai"
)

// wire is the server's end of a live connection: a websocket with one JSON object per message,
// which is all that the Gemini client sends.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	// queue holds messages that arrived while another one was awaited.
	queue []liveMessage
}

// liveMessage is a message of a client.
type liveMessage struct {
	Setup         json.RawMessage `json:"setup"`
	ClientContent *struct {
		Turns []*genai.Content `json:"turns"`
	} `json:"clientContent"`
	RealtimeInput json.RawMessage `json:"realtimeInput"`
	ToolResponse  *struct {
		FunctionResponses []*genai.FunctionResponse `json:"functionResponses"`
	} `json:"toolResponse"`
}

// upgrade completes the handshake of a websocket.
func upgrade(w http.ResponseWriter, req *http.Request) (*wire, error) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	return &wire{conn: conn, in: rw.Reader}, err
}

// next returns the next message for which is returns true, and queues earlier ones.
func (w *wire) next(is func(liveMessage) bool) (liveMessage, error) {
	for i, msg := range w.queue {
		if is(msg) {
			w.queue = append(w.queue[:i:i], w.queue[i+1:]...)
			return msg, nil
		}
	}
	for {
		msg, err := w.read()
		if err != nil || is(msg) {
			return msg, err
		}
		w.queue = append(w.queue, msg)
	}
}

// read reads one message of one or more frames.
func (w *wire) read() (msg liveMessage, err error) {
	var whole []byte
	for last := false; !last; {
		var head [2]byte
		if _, err := io.ReadFull(w.in, head[:]); err != nil {
			return msg, err
		}
		if opcode := head[0] & 0x0f; opcode > 1 { // not a data frame: the client hangs up
			return msg, io.EOF
		}
		last = head[0]&0x80 != 0
		data, err := w.payload(uint64(head[1] & 0x7f))
		if err != nil {
			return msg, err
		}
		whole = append(whole, data...)
	}
	return msg, json.Unmarshal(whole, &msg)
}

// payload reads the rest of a frame. Clients mask their frames.
func (w *wire) payload(size uint64) ([]byte, error) {
	if extra := map[uint64]int{126: 2, 127: 8}[size]; extra > 0 {
		var long [8]byte
		if _, err := io.ReadFull(w.in, long[8-extra:]); err != nil {
			return nil, err
		}
		size = binary.BigEndian.Uint64(long[:])
	}
	data := make([]byte, 4+size)
	if _, err := io.ReadFull(w.in, data); err != nil {
		return nil, err
	}
	mask, data := data[:4], data[4:]
	for i := range data {
		data[i] ^= mask[i%4]
	}
	return data, nil
}

// write sends one unmasked frame, as servers do.
func (w *wire) write(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	head := []byte{0x81, 126, 0, 0}
	binary.BigEndian.PutUint16(head[2:], uint16(len(data)))
	if len(data) > 0xffff {
		return fmt.Errorf("a message of %d bytes", len(data))
	}
	if len(data) < 126 {
		head = []byte{0x81, byte(len(data))}
	}
	_, err = w.conn.Write(append(head, data...))
	return err
}
