package stack

import (
	"errors"
	"fmt"
	"net"
)

// lowestPort keeps away from what services usually listen on.
const lowestPort = 10_000

// loopback is the one address that servers listen on.
const loopback = "127.0.0.1"

// freePorts returns n ports that nothing listens on, below those that the system
// hands to outgoing connections: there, a connection could take the port of a server
// that is down for a moment, and a client that dials its own port reaches itself.
// The search begins at a place that salt gives, so that two stacks that start at the
// same time rarely choose the same.
func freePorts(n int, salt uint32) ([]int, error) {
	room := ephemeral() - lowestPort
	if room < 10*n {
		return nil, fmt.Errorf("choosing ports: too few between %d and those of outgoing "+
			"connections, see net.ipv4.ip_local_port_range", lowestPort)
	}
	ports := make([]int, 0, n)
	begin := int(salt % uint32(room))
	for i := 0; i < room && len(ports) < n; i++ {
		port := lowestPort + (begin+i)%room
		if free(address(port)) == nil {
			ports = append(ports, port)
		}
	}
	if len(ports) < n {
		return nil, errors.New("choosing ports: too few are free")
	}
	return ports, nil
}

// free returns an error where something listens.
func free(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

func address(port int) string { return fmt.Sprintf("%s:%d", loopback, port) }
