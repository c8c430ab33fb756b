// Package draw draws a history for people: as a page of HTML with inline SVG that
// needs no network, and as a Mermaid sequence diagram.
//
// Read scene.go (lanes and rows: what is to be seen), then html.go and lanes.go,
// then mermaid.go.
package draw
