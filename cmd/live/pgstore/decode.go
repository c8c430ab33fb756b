package pgstore

import (
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"
)

// decoder puts the messages of pgoutput together to transactions
// (https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html).
type decoder struct {
	tables map[uint32]*pglogrepl.RelationMessage
	open   *committed
}

// committed is a transaction of the stream.
type committed struct {
	lsn, end pglogrepl.LSN // of the record of the commit, and where it ends
	changes  []rowChange
}

// rowChange is a row that was written.
type rowChange struct {
	table  string
	insert bool
	row    pglogrepl.LSN // of its own record
	values map[string]string
}

// take takes the next message, whose record is at an LSN. With the last of a transaction
// it returns that.
func (d *decoder) take(data []byte, at pglogrepl.LSN) (*committed, error) {
	if len(data) == 0 {
		return nil, errors.New("reading the stream: an empty message")
	}
	m, err := pglogrepl.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("reading the stream: %w", err)
	}
	switch m := m.(type) {
	case *pglogrepl.RelationMessage:
		if d.tables == nil {
			d.tables = make(map[uint32]*pglogrepl.RelationMessage)
		}
		d.tables[m.RelationID] = m
	case *pglogrepl.BeginMessage:
		d.open = &committed{lsn: m.FinalLSN}
	case *pglogrepl.InsertMessage:
		return nil, d.wrote(m.RelationID, m.Tuple, rowChange{row: at, insert: true})
	case *pglogrepl.UpdateMessage:
		return nil, d.wrote(m.RelationID, m.NewTuple, rowChange{row: at})
	case *pglogrepl.CommitMessage:
		c := d.open
		if c == nil {
			return nil, errors.New("reading the stream: a commit without a beginning")
		}
		c.end, d.open = m.TransactionEndLSN, nil
		return c, nil
	default: // types, origins: nothing of ours
	}
	return nil, nil
}

func (d *decoder) wrote(table uint32, row *pglogrepl.TupleData, c rowChange) error {
	t := d.tables[table]
	if t == nil || d.open == nil || row == nil || len(row.Columns) != len(t.Columns) {
		return errors.New("reading the stream: a row of no known table or transaction")
	}
	c.table, c.values = t.RelationName, make(map[string]string)
	for i, column := range row.Columns {
		switch column.DataType {
		case pglogrepl.TupleDataTypeText:
			c.values[t.Columns[i].Name] = string(column.Data)
		case pglogrepl.TupleDataTypeNull:
		default:
			return fmt.Errorf("reading the stream: the column %s of %s has no value",
				t.Columns[i].Name, c.table)
		}
	}
	d.open.changes = append(d.open.changes, c)
	return nil
}
