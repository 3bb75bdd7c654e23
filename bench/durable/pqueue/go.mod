module pqueueload

go 1.21

require github.com/linxGnu/pqueue v0.2.3

require (
	github.com/hashicorp/errwrap v1.1.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
)
