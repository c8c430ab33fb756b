package model

import "time"

// toJSON shares the memory of e: encode the result before e changes.
func toJSON(e *Event) *jsonEvent {
	j := &jsonEvent{
		Seq: e.Seq, AtNS: int64(e.At), Proc: jsonString(e.Proc), Life: e.Life,
		Kind: e.Kind, Op: jsonString(e.Op), Nth: e.Nth, Of: e.Of, Outcome: e.Outcome,
		Err: jsonString(e.Err), Producer: e.Producer, Epoch: e.Epoch,
		Group: jsonString(e.Group), Member: jsonString(e.Member),
		Generation: e.Generation, TxnID: jsonString(e.TxnID),
		Key: jsonString(e.Key), Digest: jsonString(e.Digest),
		ETag: jsonString(e.ETag), Bytes: e.Bytes, LSN: jsonString(e.LSN),
		Note: jsonString(e.Note),
	}
	for _, c := range e.Counts {
		j.Counts = append(j.Counts, jsonCount{jsonString(c.Of), c.N})
	}
	for i := range e.Parts {
		j.Parts = append(j.Parts, partToJSON(&e.Parts[i]))
	}
	return j
}

func partToJSON(p *Part) jsonPart {
	j := jsonPart{
		Topic: jsonString(p.Topic), Partition: p.Partition,
		Offset: unlessNone(&p.Offset), End: unlessNone(&p.End),
		Stable: unlessNone(&p.Stable), Sequence: unlessNone(&p.Sequence),
		Err: jsonString(p.Err),
	}
	for i := range p.Records {
		r := &p.Records[i]
		line := jsonRecord{
			Offset: unlessNone(&r.Offset), Kind: r.Kind, ID: jsonString(r.ID),
			Key: jsonString(r.Key), Digest: jsonString(r.Digest), Class: jsonString(r.Class),
			Cell: jsonString(r.Cell), Producer: r.Producer,
		}
		if r.From != (Position{}) {
			line.From = &jsonPosition{
				Topic: jsonString(r.From.Topic), Partition: r.From.Partition, Offset: r.From.Offset,
			}
		}
		j.Records = append(j.Records, line)
	}
	return j
}

func (j *jsonEvent) event() Event {
	e := Event{
		Seq: j.Seq, At: time.Duration(j.AtNS), Proc: string(j.Proc), Life: j.Life,
		Kind: j.Kind, Op: string(j.Op), Nth: j.Nth, Of: j.Of, Outcome: j.Outcome,
		Err: string(j.Err), Producer: j.Producer, Epoch: j.Epoch,
		Group: string(j.Group), Member: string(j.Member),
		Generation: j.Generation, TxnID: string(j.TxnID),
		Key: string(j.Key), Digest: string(j.Digest),
		ETag: string(j.ETag), Bytes: j.Bytes, LSN: string(j.LSN), Note: string(j.Note),
	}
	for _, c := range j.Counts {
		e.Counts = append(e.Counts, Count{string(c.Of), c.N})
	}
	for i := range j.Parts {
		e.Parts = append(e.Parts, j.Parts[i].part())
	}
	return e
}

func (j *jsonPart) part() Part {
	p := Part{
		Topic: string(j.Topic), Partition: j.Partition,
		Offset: orNone(j.Offset), End: orNone(j.End),
		Stable: orNone(j.Stable), Sequence: orNone(j.Sequence), Err: string(j.Err),
	}
	for i := range j.Records {
		line := &j.Records[i]
		r := Record{
			Offset: orNone(line.Offset), Kind: line.Kind, ID: string(line.ID),
			Key: string(line.Key), Digest: string(line.Digest), Class: string(line.Class),
			Cell: string(line.Cell), Producer: line.Producer,
		}
		if f := line.From; f != nil {
			r.From = Position{Topic: string(f.Topic), Partition: f.Partition, Offset: f.Offset}
		}
		p.Records = append(p.Records, r)
	}
	return p
}

// unlessNone is nil, which JSON leaves out, where v is -1.
func unlessNone[T int32 | int64](v *T) *T {
	if *v == -1 {
		return nil
	}
	return v
}

func orNone[T int32 | int64](v *T) T {
	if v == nil {
		return -1
	}
	return *v
}
