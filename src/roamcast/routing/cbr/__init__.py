"""CBR, FT-CBR and RAFT-CBR (Petrovic, Muthusamy and Jacobsen 2005): content-based routing."""
