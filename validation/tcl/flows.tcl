# Saturated flows between nodes at rest, each along a path of its own: `paths` is a list of lists of nodes. Written out:
# "F flow packets" for what came to the end of each path from `warmup` on.
source [file join [file dirname [info script]] network.tcl]

Class Agent/MessagePassing/Relay -superclass Agent/MessagePassing
Agent/MessagePassing/Relay instproc recv {source port bytes flow} {
    $self instvar node
    set path [lindex $::option(paths) $flow]
    set next [expr {[lsearch $path $node] + 1}]
    if {$next < [llength $path]} {
        $self sendto $bytes $flow [lindex $path $next] 42
    } elseif {[$::ns_ now] >= $::option(warmup)} {
        incr ::arrived($flow)
    }
}
for {set node 0} {$node < $option(nodes)} {incr node} {
    set agent_($node) [new Agent/MessagePassing/Relay]
    $agent_($node) set node $node
    $node_($node) attach $agent_($node) 42
}

# Keep the queue of each flow's first node filled.
proc feed {flow} {
    global agent_ ns_ option
    set path [lindex $option(paths) $flow]
    $agent_([lindex $path 0]) sendto $option(bytes) $flow [lindex $path 1] 42
    $ns_ at [expr {[$ns_ now] + $option(every)}] "feed $flow"
}
for {set flow 0} {$flow < [llength $option(paths)]} {incr flow} {
    set arrived($flow) 0
    $ns_ at [expr {0.01 + 0.0003 * $flow}] "feed $flow"
}
proc last {} {
    foreach flow [lsort [array names ::arrived]] { puts $::out "F $flow $::arrived($flow)" }
}
$ns_ run
