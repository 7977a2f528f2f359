# Flooding by an agent in Tcl: deliver and repeat once, after a wait of up to `jitter`.
# The schedule calls `publish node id bytes`. Written out: "D id node time" for each delivery, "S sent heard" at the end.
source [file join [file dirname [info script]] network.tcl]
if {![info exists option(jitter)]} { set option(jitter) 0.01 }

Class Agent/MessagePassing/Flood -superclass Agent/MessagePassing

Agent/MessagePassing/Flood instproc recv {source port bytes id} {
    $self instvar seen node
    incr ::heard
    if {[info exists seen($id)]} return
    set seen($id) 1
    global ns_ out random option
    set now [$ns_ now]
    puts $out "D $id $node $now"
    $ns_ at [expr {$now + [$random uniform 0 $option(jitter)]}] "$self say $id $bytes"
}

Agent/MessagePassing/Flood instproc say {id bytes} {
    incr ::sent
    $self sendto $bytes $id -1 42
}

set sent 0
set heard 0
for {set node 0} {$node < $option(nodes)} {incr node} {
    set agent_($node) [new Agent/MessagePassing/Flood]
    $agent_($node) set node $node
    $node_($node) attach $agent_($node) 42
}

proc publish {node id bytes} {
    global agent_
    $agent_($node) set seen($id) 1
    $agent_($node) say $id $bytes
}

proc last {} { puts $::out "S $::sent $::heard" }
source $option(schedule)
$ns_ run
