package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// OneOwner promises that a transactional id has one owner at a time: a commit of a
// transaction that took effect was asked for by the life that was given the producer
// id and epoch of that id last, and under no older epoch.
//
// What took effect is told by the answers, whoever got them, and when by their
// requests, as in simulation; where two lives ask at the same time on real brokers,
// it may take the one for the later that was served first. Since a broker may raise
// the epoch with every transaction (KIP-890), an epoch above the one that was given is
// fine. Commits of an id for which no InitProducerID was answered are not judged, and
// neither are aborts: they undo no one's work.
func OneOwner() Property {
	const name = "one-owner/transactional-ids"
	return Property{
		Name: name,
		Says: "Only the life that was last given the producer id of a transactional id " +
			"commits its transactions.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkOwner(h, &f)
			return f.broken()
		},
		Holds:  text(ownerHolds),
		Breaks: text(ownerBreaks),
	}
}

const ownerHolds = `
1 1s validated/0 life 1 request InitProducerID 1 txn=v-0
2 1s validated/0 life 1 reply InitProducerID 1 done of=1 producer=1 epoch=0 txn=v-0
3 2s validated/0 life 1 request EndTxn 1 producer=1 epoch=0 txn=v-0 note=commit
4 2s validated/0 life 1 reply EndTxn 1 unknown of=3 producer=1 epoch=0 txn=v-0 note=commit
5 3s validated/0 life 1 request EndTxn 2 producer=1 epoch=1 txn=v-0 note=commit
6 4s validated/0 life 2 request InitProducerID 1 txn=v-0
7 4s validated/0 life 2 reply InitProducerID 1 done of=6 producer=1 epoch=3 txn=v-0
8 9s validated/0 life 1 reply EndTxn 2 done of=5 producer=1 epoch=1 txn=v-0 note=commit
`

const ownerBreaks = `
1 1s validated/0 life 1 request InitProducerID 1 txn=v-0
2 1s validated/0 life 1 reply InitProducerID 1 done of=1 producer=1 epoch=0 txn=v-0
3 2s validated/1 life 1 request InitProducerID 1 txn=v-0
4 2s validated/1 life 1 reply InitProducerID 1 done of=3 producer=1 epoch=1 txn=v-0
5 3s validated/0 life 1 request EndTxn 1 producer=1 epoch=0 txn=v-0 note=commit
6 3s validated/0 life 1 reply EndTxn 1 done of=5 producer=1 epoch=0 txn=v-0 note=commit
`

func checkOwner(h *model.History, f *findings) {
	owners := make(map[string]*model.Event) // the answers that made them
	for _, s := range steps(h, model.Request, model.Reply, "InitProducerID", "EndTxn") {
		e := s.answer
		owner := owners[e.TxnID]
		switch {
		case e.TxnID == "":
		case e.Op == "InitProducerID":
			owners[e.TxnID] = e
		case owner == nil || e.Note != "commit":
		case lifeOf(owner) != lifeOf(e) || owner.Producer != e.Producer || e.Epoch < owner.Epoch:
			f.add(fmt.Sprintf("%s life %d committed a transaction of %s as producer %d epoch %d "+
				"after %s life %d had been given producer %d epoch %d", e.Proc, e.Life, e.TxnID,
				e.Producer, e.Epoch, owner.Proc, owner.Life, owner.Producer, owner.Epoch),
				owner.Seq, s.ask.Seq, e.Seq)
		}
	}
}
