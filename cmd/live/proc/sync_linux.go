package proc

import "syscall"

// dataSync has each write return when the data are on the disk.
const dataSync = syscall.O_DSYNC
