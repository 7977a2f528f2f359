# Copies sent to each receiver over a unicast routing protocol. The schedule calls `send node receiver id bytes`.
# What happens is read from the trace of agents and routers.
source [file join [file dirname [info script]] network.tcl]

proc send {node receiver id bytes} {
    global ns_ node_ agent_ out
    if {![info exists agent_($node,$receiver)]} {
        set agent_($node,$receiver) [new Agent/UDP]
        $agent_($node,$receiver) set packetSize_ $bytes
        set sink [new Agent/Null]
        $ns_ attach-agent $node_($node) $agent_($node,$receiver)
        $ns_ attach-agent $node_($receiver) $sink
        $ns_ connect $agent_($node,$receiver) $sink
    }
    $agent_($node,$receiver) send $bytes
}
source $option(schedule)
$ns_ run
