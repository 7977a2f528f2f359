# Copies sent to each receiver over a unicast routing protocol. The schedule calls `send node receiver id bytes`.
# What happens is read from the trace of agents and routers.
source [file join [file dirname [info script]] network.tcl]

# ns-2's AODV sees to data alone when a link fails, and plain UDP is not data to it: packets of CBR sources are, so with
# `cbr=1` each packet is a source of its own that sends once.
proc send {node receiver id bytes} {
    global ns_ node_ agent_ source_ option
    if {![info exists agent_($node,$receiver)]} {
        set agent_($node,$receiver) [new Agent/UDP]
        $agent_($node,$receiver) set packetSize_ $bytes
        set sink [new Agent/Null]
        $ns_ attach-agent $node_($node) $agent_($node,$receiver)
        $ns_ attach-agent $node_($receiver) $sink
        $ns_ connect $agent_($node,$receiver) $sink
        set source_($node,$receiver) [new Application/Traffic/CBR]
        $source_($node,$receiver) set packetSize_ $bytes
        $source_($node,$receiver) set maxpkts_ 1
        $source_($node,$receiver) attach-agent $agent_($node,$receiver)
    }
    if {$option(cbr)} {
        $source_($node,$receiver) start
    } else {
        $agent_($node,$receiver) send $bytes
    }
}
source $option(schedule)
$ns_ run
