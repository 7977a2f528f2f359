# A cell of stations in a small circle that always have a frame to send. Written out: "R packets" for all that
# was received in the second part of the run (from `warmup` on).
source [file join [file dirname [info script]] network.tcl]

for {set node 0} {$node < $option(nodes)} {incr node} {
    set angle [expr {6.283185307179586 * $node / $option(nodes)}]
    $node_($node) set X_ [expr {50 + 10 * cos($angle)}]
    $node_($node) set Y_ [expr {50 + 10 * sin($angle)}]
    $node_($node) set Z_ 0
}

set received 0
Class Agent/MessagePassing/Count -superclass Agent/MessagePassing
Agent/MessagePassing/Count instproc recv {source port bytes data} {
    if {[$::ns_ now] >= $::option(warmup)} { incr ::received }
}
for {set node 0} {$node < $option(nodes)} {incr node} {
    set agent_($node) [new Agent/MessagePassing/Count]
    $node_($node) attach $agent_($node) 42
}

# Keep the queues filled: `every` seconds a packet at each sender, faster than the air can take it.
proc feed {node to} {
    global agent_ ns_ option
    $agent_($node) sendto $option(bytes) x $to 42
    $ns_ at [expr {[$ns_ now] + $option(every)}] "feed $node $to"
}
for {set node 0} {$node < $option(senders)} {incr node} {
    set to [expr {$option(broadcast) ? -1 : ($node + 1) % $option(nodes)}]
    $ns_ at [expr {0.01 * $node}] "feed $node $to"
}
proc last {} { puts $::out "R $::received" }
$ns_ run
